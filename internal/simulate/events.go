package simulate

import (
	"encoding/json"
	"net/http"
)

// events sends an answer as a stream of server-sent events, each flushed on
// its own.
type events struct {
	turn    *turn
	w       http.ResponseWriter
	control *http.ResponseController
	buf     []byte
	started bool
}

func newEvents(w http.ResponseWriter, t *turn) *events {
	return &events{turn: t, w: w, control: http.NewResponseController(w)}
}

// delta is what a chunk adds to the message; nil fields are left out.
type delta struct {
	Role             string  `json:"role,omitempty"`
	Content          *string `json:"content,omitempty"`
	Reasoning        *string `json:"reasoning,omitempty"`
	ReasoningContent *string `json:"reasoning_content,omitempty"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	Logprobs     *string `json:"logprobs"` // always null
	FinishReason *string `json:"finish_reason"`
}

type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	// Usage is left out when nil and not wanted as null.
	Usage any `json:"usage,omitempty"`
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
		empty := ""
		e.chunk(delta{Role: "assistant", Content: &empty}, "")
	}
}

// tokens implements responder.
func (e *events) tokens(reasoning, content []byte) error {
	e.open()
	var d delta
	if e.turn.options.Dialect.RoleWithContent {
		d.Role = "assistant"
	}
	if len(reasoning) > 0 {
		s := string(reasoning)
		if d.Reasoning = &s; e.turn.options.Dialect.ReasoningContent {
			d.Reasoning, d.ReasoningContent = nil, &s
		}
	}
	if len(content) > 0 {
		s := string(content)
		d.Content = &s
	}
	e.chunk(d, "")
	return e.flush()
}

// end implements responder.
func (e *events) end() {
	empty := ""
	e.chunk(delta{Content: &empty}, e.turn.finish)
	if e.turn.request.StreamOptions.IncludeUsage {
		c := e.newChunk()
		c.Choices, c.Usage = []choice{}, e.turn.usage()
		e.json(c)
	}
	e.done()
}

// fail implements responder.
func (e *events) fail(err *apiError) {
	e.json(err)
	e.done()
}

// done ends the stream.
func (e *events) done() {
	if !e.turn.options.Dialect.NoDone {
		e.data([]byte("[DONE]"))
	}
	// A failed write means that the client is gone: nobody is left to be told.
	_ = e.flush()
}

func (e *events) newChunk() chunk {
	return chunk{
		ID: e.turn.id, Object: "chat.completion.chunk",
		Created: e.turn.arrived.Unix(), Model: e.turn.options.Model,
	}
}

// chunk buffers a chunk with one choice; finish "" is null.
func (e *events) chunk(d delta, finish string) {
	c := e.newChunk()
	c.Choices = []choice{{Delta: d}}
	if finish != "" {
		c.Choices[0].FinishReason = &finish
	}
	switch {
	case e.turn.request.StreamOptions.ContinuousUsageStats:
		c.Usage = e.turn.usage()
	case e.turn.options.Dialect.NullUsage:
		c.Usage = json.RawMessage("null")
	}
	e.json(c)
}

// json buffers an event of one value, which always can be marshaled.
func (e *events) json(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	e.data(b)
}

// data buffers an event.
func (e *events) data(payload []byte) {
	d := e.turn.options.Dialect
	eol, prefix := "\n", "data: "
	if d.CRLF {
		eol = "\r\n"
	}
	if d.NoSpace {
		prefix = "data:"
	}
	if d.Comments {
		e.buf = append(append(e.buf, ": ping"...), eol+eol...)
	}
	e.buf = append(append(append(e.buf, prefix...), payload...), eol+eol...)
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
