package simulate

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// events sends an answer as a stream of server-sent events, each flushed on
// its own. What repeats from chunk to chunk is encoded once.
type events struct {
	turn    *turn
	w       http.ResponseWriter
	control *http.ResponseController
	buf     []byte
	started bool

	prefix, eol string // of an event's line
	head        string // of a chunk up to its choices
	before      string // the reasoning of a delta
}

func newEvents(w http.ResponseWriter, t *turn) *events {
	d := t.options.Dialect
	e := &events{turn: t, w: w, control: http.NewResponseController(w), prefix: "data: ", eol: "\n", before: `"reasoning":"`}
	if d.CRLF {
		e.eol = "\r\n"
	}
	if d.NoSpace {
		e.prefix = "data:"
	}
	if d.Comments {
		e.prefix = ": ping" + e.eol + e.eol + e.prefix
	}
	if d.ReasoningContent {
		e.before = `"reasoning_content":"`
	}
	e.head = `{"id":` + quote(t.id) + `,"object":"chat.completion.chunk","created":` +
		strconv.FormatInt(t.arrived.Unix(), 10) + `,"model":` + quote(t.options.Model) + `,"choices":[`
	return e
}

// quote is a string in JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always can be marshaled
	}
	return string(b)
}

// start implements responder.
func (e *events) start() error {
	if e.turn.options.Dialect.LateHeaders {
		return nil
	}
	e.open()
	return e.flush()
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
	if !e.turn.options.Dialect.RoleWithContent {
		e.delta(`"role":"assistant","content":""`, nil, nil, "null")
	}
}

// tokens implements responder.
func (e *events) tokens(reasoning, content []byte) error {
	e.open()
	role := ""
	if e.turn.options.Dialect.RoleWithContent {
		role = `"role":"assistant",`
	}
	e.delta(role, reasoning, content, "null")
	return e.flush()
}

// end implements responder.
func (e *events) end() {
	e.open()
	e.delta(`"content":""`, nil, nil, `"`+e.turn.finish+`"`)
	if e.turn.request.StreamOptions.IncludeUsage {
		e.buf = append(append(append(e.buf, e.prefix...), e.head...), ']')
		e.usage()
		e.close()
	}
	e.done()
}

// fail implements responder.
func (e *events) fail(err *apiError) {
	if !e.started {
		err.write(e.w)
		return
	}
	b, wrong := json.Marshal(err)
	if wrong != nil {
		panic(wrong) // an error always can be marshaled
	}
	e.buf = append(append(append(append(e.buf, e.prefix...), b...), e.eol...), e.eol...)
	e.done()
}

// done ends the stream.
func (e *events) done() {
	if !e.turn.options.Dialect.NoDone {
		e.buf = append(append(append(append(e.buf, e.prefix...), "[DONE]"...), e.eol...), e.eol...)
	}
	// A failed write means that the client is gone: nobody is left to be told.
	_ = e.flush()
}

// delta buffers a chunk with one choice: fields of its delta as they are, then
// the texts, which need no escaping.
func (e *events) delta(fields string, reasoning, content []byte, finish string) {
	b := append(append(append(e.buf, e.prefix...), e.head...), `{"index":0,"delta":{`...)
	b = append(b, fields...)
	if len(reasoning) > 0 {
		b = append(append(append(b, e.before...), reasoning...), '"')
		if len(content) > 0 {
			b = append(b, ',')
		}
	}
	if len(content) > 0 {
		b = append(append(append(b, `"content":"`...), content...), '"')
	}
	e.buf = append(append(append(b, `},"logprobs":null,"finish_reason":`...), finish...), `}]`...)
	switch {
	case e.turn.request.StreamOptions.ContinuousUsageStats:
		e.usage()
	case e.turn.options.Dialect.NullUsage:
		e.buf = append(e.buf, `,"usage":null`...)
	}
	e.close()
}

// usage buffers the usage so far.
func (e *events) usage() {
	b, err := json.Marshal(e.turn.usage())
	if err != nil {
		panic(err) // numbers always can be marshaled
	}
	e.buf = append(append(e.buf, `,"usage":`...), b...)
}

// close buffers the end of a chunk.
func (e *events) close() {
	e.buf = append(append(append(e.buf, '}'), e.eol...), e.eol...)
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
