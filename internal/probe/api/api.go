// Package api says how each kind of endpoint is spoken to: what a turn sends, and
// how the stream that answers it is read. It knows nothing of time.
package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// API is one kind of endpoint. It is safe for concurrent use.
type API struct {
	// Request returns what a turn sends.
	Request func(Turn) (Request, error)
	// Stream says how the answer is read, with a Decoder of its own for each.
	Stream func() Stream
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
		return API{completions, streamed(stream.NewCompletions)}
	case target.Responses:
		return API{responses, streamed(stream.NewResponses)}
	case target.Messages:
		return API{messages, streamed(stream.NewMessages)}
	case target.Triton:
		return API{triton, func() Stream {
			return Stream{Options: stream.Options{Decoder: stream.NewGenerate()}, Endless: true}
		}}
	case target.Ollama:
		return API{ollama, func() Stream {
			return Stream{Options: stream.Options{Decoder: stream.NewOllama(), Lines: true}}
		}}
	case target.Embeddings:
		return API{embeddings, single("data")}
	case target.Rerank:
		return API{rerank, single("results")}
	}
	return API{chat, streamed(stream.NewChat)}
}

func streamed(decoder func() stream.Decoder) func() Stream {
	return func() Stream { return Stream{Options: stream.Options{Decoder: decoder()}} }
}

// single is how an answer is read that comes in one piece, in the list called by
// a name.
func single(list string) func() Stream {
	return func() Stream {
		return Stream{Options: stream.Options{Decoder: stream.NewDocument(list), Document: true}}
	}
}

// fields are those of a JSON object.
type fields map[string]any

// put adds a field that is not empty.
func put[T comparable](f fields, name string, v T) {
	if v != *new(T) {
		f[name] = v
	}
}

// putAll adds a list that is not empty, each in the form of an API.
func putAll[S, T any](f fields, name string, in []S, form func(*S) T) {
	if len(in) > 0 {
		f[name] = each(in, form)
	}
}

func each[S, T any](in []S, form func(*S) T) []T {
	out := make([]T, len(in))
	for i := range in {
		out[i] = form(&in[i])
	}
	return out
}

// request encodes a body with the fields that the target adds; the configuration
// refuses those that would break it. A history may be long, so that it is written
// once, into a buffer that usually need not grow.
func (t Turn) request(path, accept string, f fields) (Request, error) {
	maps.Copy(f, t.Target.Extra)
	size := 256 // for the frame of the whole
	for i := range t.History {
		size += t.History[i].Size()*9/8 + 64 // for what is escaped, and the frame of a message
	}
	body := bytes.NewBuffer(make([]byte, 0, size))
	if err := json.NewEncoder(body).Encode(f); err != nil {
		return Request{}, fmt.Errorf("encoding the request, with the extra body fields: %w", err)
	}
	return Request{Path: path, Accept: accept, Body: bytes.TrimSuffix(body.Bytes(), []byte("\n"))}, nil
}
