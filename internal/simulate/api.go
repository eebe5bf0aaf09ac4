package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"

	"synthetic/internal/probe/dialect"
)

// api is an API of the deployment. All APIs share one engine and one cache.
type api struct {
	// read decodes a body into the form that all APIs share.
	read func(r *http.Request, body []byte, q *chatRequest) error
	// errorBody returns the body of an error.
	errorBody func(*apiError) any
	// stream starts an answer.
	stream func(*responder) events
}

// events encodes an answer into the buffer of its responder.
type events interface {
	// piece encodes new tokens.
	piece(piece)
	// end encodes the end of a complete answer.
	end()
	// fail encodes an error in mid-stream.
	fail(*apiError)
}

// apis returns the APIs that the deployment serves.
func apis() map[dialect.Name]api {
	chat := api{read: readChat, errorBody: openAIError, stream: streamChat}
	azure := chat
	azure.read, azure.stream = readAzure, streamAzure
	return map[dialect.Name]api{
		"chat": chat, "azure": azure,
		"completions": {read: readCompletion, errorBody: openAIError, stream: streamCompletion},
		"responses":   {read: readResponses, errorBody: openAIError, stream: streamResponse},
		"messages":    {read: readMessages, errorBody: anthropicError, stream: streamMessage},
	}
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // no answer contains a value that JSON cannot hold
	}
	return string(b)
}

// apiError is an error as OpenAI-compatible servers encode it.
type apiError struct {
	status  int
	Code    any    `json:"code"` // nil is null
	Message string `json:"message"`
	Param   any    `json:"param"`
	Kind    string `json:"type"`
}

// newError returns an error with its status as the code.
func newError(status int, kind, format string, args ...any) *apiError {
	return &apiError{status: status, Code: status, Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// badRequest returns an error with status 400 about a field. param is nil for errors about no field.
func badRequest(param any, format string, args ...any) *apiError {
	e := newError(http.StatusBadRequest, "BadRequestError", format, args...)
	e.Param = param
	return e
}

func engineFailed() *apiError {
	return newError(http.StatusInternalServerError, "InternalServerError", "The engine failed while it served this request (simulated fault).")
}

// Error implements error.
func (e *apiError) Error() string { return e.Message }

func (e *apiError) write(w http.ResponseWriter, body func(*apiError) any) {
	if e.status == http.StatusTooManyRequests || e.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, e.status, body(e))
}

func openAIError(e *apiError) any { return map[string]any{"error": e} }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // fails only if the client left
}
