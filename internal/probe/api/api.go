// Package api builds the requests of each kind of endpoint, and says how the answer is decoded.
package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// API is one kind of endpoint. It is safe for concurrent use.
type API struct {
	Request func(*Turn) (Request, error)
	// Decoder returns a new Decoder, for one answer.
	Decoder func() stream.Decoder
	// needsLimit is true for an API that requires a token limit.
	needsLimit bool
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
	// Without are the fields that the request leaves out, besides those that are nil in Extra.
	Without []string
}

// Request is a POST request with JSON.
type Request struct {
	// Path is appended to the base URL. It begins with a slash and may contain a query.
	Path string
	Body []byte
	// Fields are the names of the fields of the body.
	Fields []string
}

// New returns the API with the name. "" means chat completions.
func New(name target.API) API {
	switch name {
	case target.Completions:
		return API{completions, stream.NewChat, false}
	case target.Responses:
		return API{responses, stream.NewResponses, false}
	case target.Messages:
		return API{messages, stream.NewMessages, true}
	}
	return API{chat, stream.NewChat, false}
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

// The fields with a token limit. Every server knows max_tokens, but OpenAI's reasoning models refuse it.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
	maxOutputTokens     = "max_output_tokens"
)

// HasLimit reports whether the request limits the tokens of the answer.
func (r *Request) HasLimit() bool {
	return slices.ContainsFunc(r.Fields, func(f string) bool { return f == maxTokens || f == maxCompletionTokens || f == maxOutputTokens })
}

// IsOptional reports whether a request may be sent without a field. It then asks the same question.
func (a API) IsOptional(field string) bool {
	switch field {
	case "model", "messages", "prompt", "input", "system", "stream", "tools", "tool_choice", "response_format", "text":
		return false
	case maxTokens:
		return !a.needsLimit
	}
	return true
}

func (t *Turn) leavesOut(field string) bool {
	value, extra := t.Extra[field]
	return extra && value == nil || slices.Contains(t.Without, field)
}

// request encodes a body, including the fields that the target adds; the configuration rejects
// fields that would break it. A history may be long, so it is encoded into a buffer that usually
// does not have to grow.
func (t *Turn) request(path string, f fields) (Request, error) {
	maps.Copy(f, t.Extra)
	maps.DeleteFunc(f, func(name string, _ any) bool { return t.leavesOut(name) })
	size := 256 // for the other fields
	for i := range t.History {
		size += t.History[i].Size()*9/8 + 64 // for escapes and the fields of a message
	}
	body := bytes.NewBuffer(make([]byte, 0, size))
	if err := json.NewEncoder(body).Encode(f); err != nil {
		return Request{}, fmt.Errorf("encoding the request, with the extra body fields: %w", err)
	}
	return Request{path, bytes.TrimSuffix(body.Bytes(), []byte("\n")), slices.Collect(maps.Keys(f))}, nil
}
