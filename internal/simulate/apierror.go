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
	Code    any    `json:"code"` // nil is null
	Message string `json:"message"`
	Param   any    `json:"param"`
	Kind    string `json:"type"`
}

// failure is an error whose code is its status.
func failure(status int, kind, format string, args ...any) *apiError {
	return &apiError{status: status, Code: status, Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// badRequest is a 400 about a field.
func badRequest(param, format string, args ...any) *apiError {
	e := failure(http.StatusBadRequest, "BadRequestError", format, args...)
	e.Param = param
	return e
}

// Error implements error.
func (e *apiError) Error() string { return e.Message }

// body is what a client reads.
func (e *apiError) body() any { return map[string]any{"error": e} }

// write answers a request with the error.
func (e *apiError) write(w http.ResponseWriter) {
	switch e.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, e.status, e.body())
}

// unauthorized is what OpenAI answers to a missing or wrong key. It repeats
// the wrong key partly masked, so a client that prints error bodies leaks a
// part of its key: tests want to see that.
func unauthorized(key string) *apiError {
	e := &apiError{status: http.StatusUnauthorized, Kind: "invalid_request_error", Code: "invalid_api_key"}
	if key == "" {
		e.Code = nil
		e.Message = "No API key was provided. Send it in an Authorization header, as a bearer token."
		return e
	}
	e.Message = fmt.Sprintf("Incorrect API key provided: %s.", mask(key))
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
