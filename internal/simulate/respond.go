package simulate

import (
	"cmp"
	"net/http"
	"strings"
)

// responder sends an answer in the form of its API: as a stream of events,
// each flushed on its own, or as one JSON object when it is complete.
type responder struct {
	turn *turn
	w    http.ResponseWriter

	// What was said so far.
	reasoning, content, arguments strings.Builder
	logprobs                      []logprob

	// Of a stream.
	events events // nil until it is open
	buf    []byte
}

// open writes the headers and what a stream has before its first token.
func (a *responder) open() {
	if a.events != nil {
		return
	}
	h := a.w.Header()
	h.Set("Content-Type", cmp.Or(a.turn.api.contentType, "text/event-stream; charset=utf-8"))
	h.Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	a.events = a.turn.api.stream(a)
}

// tokens sends the next piece of an answer.
func (a *responder) tokens(p piece) error {
	a.reasoning.WriteString(p.reasoning)
	a.content.WriteString(p.content)
	a.arguments.WriteString(p.arguments)
	a.logprobs = append(a.logprobs, p.logprobs...)
	if !a.turn.request.Stream {
		return nil
	}
	a.open()
	a.events.piece(p)
	if a.turn.fault.Kind == Buffered {
		return nil
	}
	return a.flush()
}

// end completes the answer.
func (a *responder) end() {
	if !a.turn.request.Stream {
		writeJSON(a.w, http.StatusOK, a.turn.api.whole(a))
		return
	}
	a.open()
	a.events.end()
	// A failed write means that the client is gone: nobody is left to be told.
	_ = a.flush()
}

// fail ends the answer with an error.
func (a *responder) fail(err *apiError) {
	if a.events == nil {
		err.write(a.w, a.turn.api.refusal)
		return
	}
	a.events.fail(err)
	_ = a.flush() // as in end
}

// flush sends what is buffered.
func (a *responder) flush() error {
	_, err := a.w.Write(a.buf)
	a.buf = a.buf[:0]
	if err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}
