// Package api says how each kind of endpoint is spoken to: what a turn sends, and
// how the stream that answers it is read. It knows nothing of time.
package api

import (
	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// API is one kind of endpoint. It is safe for concurrent use.
type API interface {
	// Request returns what a turn sends.
	Request(Turn) (Request, error)
	// Stream says how the answer is read, with a Decoder of its own for each.
	Stream() Stream
}

// Stream is how an answer is read.
type Stream struct {
	stream.Options
	// Endless says that the API has no finish reason: that the body is whole is
	// all that can be known of an answer's end.
	Endless bool
}

// Turn is what a request is made of.
type Turn struct {
	Model   string
	Spec    workload.Spec
	History []workload.Message
	// Target brings the fields that it adds to every body, Extra; they win over
	// those of the workload.
	Target target.Target
	// Limit is MaxTokens or MaxCompletionTokens.
	Limit target.LimitField
}

// Request is a POST of JSON.
type Request struct {
	// Path is appended to the base URL, and begins with a slash; it may have a
	// query.
	Path string
	// Accept is the type of the answer, "" for that of event streams.
	Accept string
	Body   []byte
}

// Of returns the API of that name, chat completions for "".
func Of(name target.API) API {
	switch name {
	case target.Completions:
		return completions{}
	case target.Responses:
		return responses{}
	case target.Messages:
		return messages{}
	case target.Triton:
		return triton{}
	case target.Ollama:
		return ollama{}
	case target.Embeddings:
		return embeddings{}
	case target.Rerank:
		return rerank{}
	}
	return chat{}
}
