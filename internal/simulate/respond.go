package simulate

import (
	"fmt"
	"net/http"
)

// piece is the text of some tokens of an answer.
type piece struct {
	reasoning, content string
	arguments          string // of the tool call
}

// responder sends an answer in the form of its API, as a stream of events, each flushed on its own.
type responder struct {
	turn *turn
	w    http.ResponseWriter

	events events // nil until the stream is open
	buf    []byte
}

// open sends the headers and what a stream has before its first token.
func (a *responder) open() {
	if a.events != nil {
		return
	}
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	a.events = a.turn.api.stream(a)
}

// send sends a piece of the answer.
func (a *responder) send(p piece) error {
	a.open()
	a.events.piece(p)
	return a.flush()
}

func (a *responder) end() {
	a.open()
	a.events.end()
	_ = a.flush() // fails only if the client left
}

func (a *responder) fail(err *apiError) {
	if a.events == nil {
		err.write(a.w, a.turn.api.errorBody)
		return
	}
	a.events.fail(err)
	_ = a.flush() // fails only if the client left
}

func (a *responder) flush() error {
	_, err := a.w.Write(a.buf)
	a.buf = a.buf[:0]
	if err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}

// data buffers a server-sent event. The parts together are its JSON.
func (a *responder) data(parts ...string) {
	a.buf = append(a.buf, "data: "...)
	for _, part := range parts {
		a.buf = append(a.buf, part...)
	}
	a.buf = append(a.buf, "\n\n"...)
}

// namedEvent buffers a server-sent event with a name, which its JSON repeats as the type.
func (a *responder) namedEvent(name string, v map[string]any) {
	v["type"] = name
	a.buf = fmt.Appendf(a.buf, "event: %s\n", name)
	a.data(encode(v))
}

// block is a kind of text in an answer. APIs with a place for each kind send them in this order.
type block int

const (
	noBlock block = iota
	reasoningBlock
	contentBlock
	callBlock
)

type blockText struct {
	kind block
	text string
}

// blocks returns the non-empty texts of a piece, in order.
func (p piece) blocks() []blockText {
	var out []blockText
	for _, b := range []blockText{{reasoningBlock, p.reasoning}, {contentBlock, p.content}, {callBlock, p.arguments}} {
		if b.text != "" {
			out = append(out, b)
		}
	}
	return out
}

// openBlock is the block that a stream is sending.
type openBlock struct {
	kind  block
	index int
}

// start starts the next block.
func (b *openBlock) start(kind block) {
	if b.kind != noBlock {
		b.index++
	}
	b.kind = kind
}
