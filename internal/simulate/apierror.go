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

// badRequest is a 400 about a field, nil for none.
func badRequest(param any, format string, args ...any) *apiError {
	e := failure(http.StatusBadRequest, "BadRequestError", format, args...)
	e.Param = param
	return e
}

// Error implements error.
func (e *apiError) Error() string { return e.Message }

// write answers a request with the error, in the form that its API gives it.
func (e *apiError) write(w http.ResponseWriter, form func(*apiError) any) {
	switch e.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, e.status, form(e))
}

// unauthorized is what OpenAI answers to a missing or wrong key. It repeats
// the wrong key partly masked, so a client that prints error bodies leaks a
// part of its key: tests want to see that.
func unauthorized(key string) *apiError {
	e := &apiError{status: http.StatusUnauthorized, Kind: "invalid_request_error"}
	if key == "" {
		e.Message = "No API key was provided. Send it in an Authorization header, as a bearer token."
		return e
	}
	shown := strings.Repeat("*", len(key))
	if n := len(key); n > 12 {
		shown = key[:8] + shown[12:] + key[n-4:]
	}
	e.Code, e.Message = "invalid_api_key", "Incorrect API key provided: "+shown+"."
	return e
}

// writeJSON answers with a JSON body.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A failed write means that the client is gone: nobody is left to be told.
	_ = json.NewEncoder(w).Encode(v)
}
