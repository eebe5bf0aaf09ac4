package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// apiError is an error as OpenAI-compatible servers put it into JSON.
type apiError struct {
	status  int
	message string
	kind    string
	param   string // "" is null
	code    any    // nil is null
}

// badRequest is a 400 about a field ("" for none).
func badRequest(param, format string, args ...any) *apiError {
	return &apiError{
		status: http.StatusBadRequest, kind: "BadRequestError", code: http.StatusBadRequest,
		param: param, message: fmt.Sprintf(format, args...),
	}
}

// Error implements error.
func (e *apiError) Error() string { return e.message }

// MarshalJSON implements json.Marshaler.
func (e *apiError) MarshalJSON() ([]byte, error) {
	var param any
	if e.param != "" {
		param = e.param
	}
	return json.Marshal(map[string]any{"error": map[string]any{
		"message": e.message, "type": e.kind, "param": param, "code": e.code,
	}})
}

// write answers a request with the error.
func (e *apiError) write(w http.ResponseWriter) {
	switch e.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, e.status, e)
}

// unauthorized is what OpenAI answers to a missing or wrong key. It repeats
// the wrong key partly masked, so a client that prints error bodies leaks a
// part of its key: tests want to see that.
func unauthorized(key string) *apiError {
	e := &apiError{status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key"}
	if key == "" {
		e.code = nil
		e.message = "No API key was provided. Send it in an Authorization header, as a bearer token."
		return e
	}
	e.message = fmt.Sprintf("Incorrect API key provided: %s.", mask(key))
	return e
}

// mask hides all but the ends of a key.
func mask(key string) string {
	if len(key) <= 12 {
		return strings.Repeat("*", len(key))
	}
	return key[:8] + strings.Repeat("*", len(key)-12) + key[len(key)-4:]
}

// writeJSON answers with a JSON body.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A failed write means that the client is gone: nobody is left to be told.
	_ = json.NewEncoder(w).Encode(v)
}
