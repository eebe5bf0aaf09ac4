//go:build linux

package main

import (
	"bytes"
	"io"
	"net"
	"net/http"

	"synthetic/internal/load"
)

// fault is the kind of a fault of a deployment.
type fault string

const (
	healthy    fault = ""
	killed     fault = "refused"   // nothing listens
	hanging    fault = "HTTP-hang" // no headers until the client disconnects
	broken     fault = "HTTP-500"
	erring     fault = "error-event" // after the first token
	reset      fault = "reset"       // the connection is reset in mid-stream
	slowThrice fault = "slow-x3"     // the first token takes three times as long
)

const token = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"simulated-chat","choices":[{"index":0,"delta":{"content":" more"},"finish_reason":null}]}` + "\n\n"

// misbehave answers a chat request with the fault. next answers correctly.
func (f fault) misbehave(w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch f {
	case broken:
		http.Error(w, `{"error":{"message":"internal error"}}`, http.StatusInternalServerError)
	case erring:
		stream(w, token+"data: {\"error\":{\"message\":\"the worker is lost\",\"code\":500}}\n\n")
	case reset:
		stream(w, token+token)
		hangUp(w)
	case slowThrice:
		if load.Pause(r.Context(), 2*firstToken) {
			next.ServeHTTP(w, r)
		}
	case hanging:
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	default:
		next.ServeHTTP(w, r)
	}
}

// stream sends a part of an event stream.
func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.Copy(w, bytes.NewReader([]byte(text))) // the client may have gone
	_ = http.NewResponseController(w).Flush()
}

// hangUp resets the connection.
func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // HTTP/1.1 connections can always be hijacked
	}
	_ = c.(*net.TCPConn).SetLinger(0) // the client may have gone
	_ = c.Close()
}
