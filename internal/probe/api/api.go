// Package api says how each kind of endpoint is spoken to: what a turn sends, and
// how the stream that answers it is read. It knows nothing of time.
package api

import (
	"net/http"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// API is one kind of endpoint. It is safe for concurrent use.
type API interface {
	// Request returns what a turn sends.
	Request(Turn) (Request, error)
	// Stream says how the answer is read, with a Decoder of its own for each.
	Stream() stream.Options
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
	// Header holds what the API wants beside the usual, nil for nothing.
	Header http.Header
	Body   []byte
}

// Of returns the API of that name, chat completions for "".
func Of(name target.API) API {
	return chat{}
}
