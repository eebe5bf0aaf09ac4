// Package dialect knows the HTTP APIs: how each is asked, and what the events of its answers mean. An API is
// one row of a table and one file with its request and its decoder.
//
// All APIs share one reader, which splits the body of a streamed answer into events, and one scanner of JSON. The
// reader reads no clock: the body says when its bytes arrived (Source), so that parsing, scheduling and garbage
// collection cannot change a timestamp.
package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"synthetic/internal/probe/workload"
)

// Name is the name of an API in a configuration. "" means Default.
type Name string

// Default is the API of an endpoint that names none.
const Default Name = "chat"

// API is one kind of endpoint. It is safe for concurrent use.
type API struct {
	Name Name
	// Root is the path of a base URL that was written without one.
	Root string
	// path is appended to the base URL. It may contain {model} and {version}.
	path string
	// body returns the fields of a request.
	body func(*Turn) fields
	// Decoder returns a new Decoder, for one answer.
	Decoder func() Decoder
	// KeyHeader is the header of the key. In Authorization, the key follows "Bearer".
	KeyHeader string
	// ModelList is the path of the list of served models; "" means that the API has none.
	ModelList string
	// Version is a widely supported version; "" means that the API has no versions. The request has it in
	// VersionHeader or in its path.
	Version, VersionHeader string
	// Tools and Schemas say whether a request can contain tools and ask for a JSON schema.
	Tools, Schemas bool
	// NoArguments are the arguments of a call for which no event has any.
	NoArguments string
	// needsLimit is true for an API that requires a token limit.
	needsLimit bool
	// Operation and Provider are the names in OpenTelemetry's conventions. The real provider is unknown.
	Operation, Provider string
}

// apis is the table of all APIs. Tools that try several use this order.
var apis = []API{
	{ // OpenAI's /chat/completions
		Name: Default, Root: "/v1", path: "/chat/completions", body: chatBody, Decoder: newChat,
		KeyHeader: "Authorization", ModelList: "/models", Tools: true, Schemas: true,
		Operation: "chat", Provider: "openai",
	},
	{ // OpenAI's /responses
		Name: "responses", Root: "/v1", path: "/responses", body: responsesBody, Decoder: newResponses,
		KeyHeader: "Authorization", ModelList: "/models", Tools: true, Schemas: true,
		Operation: "chat", Provider: "openai",
	},
	{ // Anthropic's /messages, which vLLM, SGLang and llama.cpp also serve
		Name: "messages", Root: "/v1", path: "/messages", body: messagesBody, Decoder: newMessages,
		KeyHeader: "X-Api-Key", ModelList: "/models", Version: "2023-06-01", VersionHeader: "Anthropic-Version",
		Tools: true, NoArguments: "{}", needsLimit: true,
		Operation: "chat", Provider: "anthropic",
	},
	{ // OpenAI's older /completions, which takes a prompt
		Name: "completions", Root: "/v1", path: "/completions", body: completionsBody, Decoder: newChat,
		KeyHeader: "Authorization", ModelList: "/models",
		Operation: "text_completion", Provider: "openai",
	},
	{ // chat completions on Azure OpenAI, whose paths have different roots
		Name: "azure", path: "/openai/deployments/{model}/chat/completions?api-version={version}", body: chatBody,
		Decoder: newChat, KeyHeader: "Api-Key", Version: "2024-10-21", Tools: true, Schemas: true,
		Operation: "chat", Provider: "azure.ai.openai",
	},
}

// Of returns the API with the name.
func Of(name Name) *API {
	i := slices.IndexFunc(apis, func(a API) bool { return a.Name == name })
	return &apis[max(i, 0)]
}

// Names returns the names of all APIs.
func Names() []Name { return convertAll(apis, func(a *API) Name { return a.Name }) }

// Values returns the names as texts, for the reader of configurations.
func (Name) Values() []string {
	return convertAll(apis, func(a *API) string { return string(a.Name) })
}

// NamesDeployment reports whether the model of a request is the name of a deployment, which says nothing about
// the model that answers.
func (a *API) NamesDeployment() bool { return strings.Contains(a.path, "{model}") }

// Route is the path of the requests below a host with the default root, as a pattern of http.ServeMux.
func (a *API) Route() string {
	path, _, _ := strings.Cut(a.path, "?")
	return a.Root + path
}

// Turn is the content of a request.
type Turn struct {
	Model   string
	Spec    *workload.Spec
	History []workload.Message
	// Version replaces the API's version, unless it is empty.
	Version string
	// Extra are fields that the target adds to the body. They have priority over the workload's fields.
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

// Request encodes a turn, including the fields that the target adds; the configuration rejects fields that would
// break it. A history may be long, so it is encoded into a buffer that usually does not have to grow.
func (a *API) Request(t *Turn) (Request, error) {
	f := a.body(t)
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
	version := url.QueryEscape(cmp.Or(t.Version, a.Version))
	path := strings.NewReplacer("{model}", url.PathEscape(t.Model), "{version}", version).Replace(a.path)
	return Request{path, bytes.TrimSuffix(body.Bytes(), []byte("\n")), slices.Collect(maps.Keys(f))}, nil
}

func (t *Turn) leavesOut(field string) bool {
	value, extra := t.Extra[field]
	return extra && value == nil || slices.Contains(t.Without, field)
}

// The fields with a token limit. Every server knows max_tokens, but OpenAI's reasoning models refuse it.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
	maxOutputTokens     = "max_output_tokens"
)

// HasLimit reports whether the request limits the tokens of the answer.
func (r *Request) HasLimit() bool {
	return slices.ContainsFunc(r.Fields, func(f string) bool {
		return f == maxTokens || f == maxCompletionTokens || f == maxOutputTokens
	})
}

// IsOptional reports whether a request may be sent without a field. It then asks the same question.
func (a *API) IsOptional(field string) bool {
	switch field {
	case "model", "messages", "prompt", "input", "system", "stream", "tools", "tool_choice", "response_format", "text":
		return false
	case maxTokens:
		return !a.needsLimit
	}
	return true
}
