package simulate

import (
	"fmt"
	"net/http"
	"strings"
)

// events sends an answer as a stream of server-sent events, each flushed on
// its own. What repeats from chunk to chunk is encoded once.
type events struct {
	turn    *turn
	w       http.ResponseWriter
	control *http.ResponseController
	buf     []byte
	started bool

	head string // of a chunk up to its choices
}

func newEvents(w http.ResponseWriter, t *turn) *events {
	head := fmt.Sprintf(`{"id":%s,"object":"chat.completion.chunk","created":%d,"model":%s,"choices":[`,
		encode(t.id), t.arrived.Unix(), encode(t.options.Model))
	return &events{turn: t, w: w, control: http.NewResponseController(w), head: head}
}

// open writes the headers and the role-only chunk.
func (e *events) open() {
	if e.started {
		return
	}
	e.started = true
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	e.w.WriteHeader(http.StatusOK)
	e.delta("null", `"role":"assistant"`, `"content":""`)
}

// tokens implements responder. The texts need no escaping.
func (e *events) tokens(reasoning, content string) error {
	e.open()
	var fields []string
	if reasoning != "" {
		fields = append(fields, `"reasoning":"`+reasoning+`"`)
	}
	if content != "" {
		fields = append(fields, `"content":"`+content+`"`)
	}
	e.delta("null", fields...)
	return e.flush()
}

// end implements responder.
func (e *events) end() {
	e.open()
	e.delta(`"`+e.turn.finish+`"`, `"content":""`)
	if e.turn.request.StreamOptions.IncludeUsage {
		e.event(e.head, `],"usage":`, encode(e.turn.usage()), `}`)
	}
	e.done()
}

// fail implements responder.
func (e *events) fail(err *apiError) {
	if !e.started {
		err.write(e.w)
		return
	}
	e.event(encode(err.body()))
	e.done()
}

// done ends the stream.
func (e *events) done() {
	e.event("[DONE]")
	// A failed write means that the client is gone: nobody is left to be told.
	_ = e.flush()
}

// delta buffers a chunk with one choice: the fields of its delta as they are.
func (e *events) delta(finish string, fields ...string) {
	usage := ""
	if e.turn.request.StreamOptions.ContinuousUsageStats {
		usage = `,"usage":` + encode(e.turn.usage())
	}
	e.event(e.head, `{"index":0,"delta":{`, strings.Join(fields, ","), `},"logprobs":null,"finish_reason":`, finish, `}]`, usage, `}`)
}

// event buffers one event.
func (e *events) event(data ...string) {
	e.buf = append(e.buf, "data: "...)
	for _, part := range data {
		e.buf = append(e.buf, part...)
	}
	e.buf = append(e.buf, "\n\n"...)
}

// flush sends what is buffered.
func (e *events) flush() error {
	_, err := e.w.Write(e.buf)
	e.buf = e.buf[:0]
	if err != nil {
		return err
	}
	return e.control.Flush()
}
