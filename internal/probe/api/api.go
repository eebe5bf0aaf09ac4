// Package api builds the requests of each kind of endpoint, and says how the answer is decoded.
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
	Request func(*Turn) (Request, error)
	// Decoder returns a new Decoder, for one answer.
	Decoder func() stream.Decoder
}

// Turn is the content of a request.
type Turn struct {
	Model   string
	Spec    *workload.Spec
	History []workload.Message
	Target  *target.Target
	// Extra replaces the Extra of Target: the fields that are added to the body. They have priority
	// over the workload's fields.
	Extra map[string]any
	// Limit is MaxTokens or MaxCompletionTokens.
	Limit target.LimitField
}

// Request is a POST request with JSON.
type Request struct {
	// Path is appended to the base URL. It begins with a slash and may contain a query.
	Path string
	Body []byte
}

// New returns the API with the name. "" means chat completions.
func New(name target.API) API {
	switch name {
	case target.Completions:
		return API{completions, stream.NewCompletions}
	case target.Responses:
		return API{responses, stream.NewResponses}
	case target.Messages:
		return API{messages, stream.NewMessages}
	}
	return API{chat, stream.NewChat}
}

// fields is a JSON object.
type fields map[string]any

// put adds a field, unless the value is empty.
func put[T comparable](f fields, name string, v T) {
	if v != *new(T) {
		f[name] = v
	}
}

// putAll adds a list, unless it is empty, and converts its elements.
func putAll[S, T any](f fields, name string, in []S, convert func(*S) T) {
	if len(in) > 0 {
		f[name] = convertAll(in, convert)
	}
}

func convertAll[S, T any](in []S, convert func(*S) T) []T {
	out := make([]T, len(in))
	for i := range in {
		out[i] = convert(&in[i])
	}
	return out
}

// request encodes a body, including the fields that the target adds; the configuration rejects
// fields that would break it. A history may be long, so it is encoded into a buffer that usually
// does not have to grow.
func (t *Turn) request(path string, f fields) (Request, error) {
	maps.Copy(f, t.Extra)
	size := 256 // for the other fields
	for i := range t.History {
		size += t.History[i].Size()*9/8 + 64 // for escapes and the fields of a message
	}
	body := bytes.NewBuffer(make([]byte, 0, size))
	if err := json.NewEncoder(body).Encode(f); err != nil {
		return Request{}, fmt.Errorf("encoding the request, with the extra body fields: %w", err)
	}
	return Request{Path: path, Body: bytes.TrimSuffix(body.Bytes(), []byte("\n"))}, nil
}
