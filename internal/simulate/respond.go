package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responder sends an answer: as a stream of server-sent events, each flushed on
// its own, or as one JSON object when it is complete.
type responder struct {
	turn *turn
	w    http.ResponseWriter

	reasoning, content strings.Builder // of one object

	buf     []byte // of a stream
	started bool
	head    string // of a chunk up to its choices, which is encoded once
}

// newResponder returns a turn's. With an engine of its own a stream begins
// before its first token.
func newResponder(w http.ResponseWriter, t *turn) *responder {
	a := &responder{turn: t, w: w}
	a.head = fmt.Sprintf(`{"id":%s,"object":"chat.completion.chunk","created":%d,"model":%s,"choices":[`,
		encode(t.id), t.arrived.Unix(), encode(t.options.Model))
	if t.request.Stream && t.driver == nil {
		a.open()
		_ = a.flush() // to a client that went: the next event fails as well
	}
	return a
}

// open writes the headers and the role-only chunk of a stream.
func (a *responder) open() {
	if a.started {
		return
	}
	a.started = true
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	a.w.WriteHeader(http.StatusOK)
	a.delta("null", `"role":"assistant","content":""`)
}

// tokens sends the next text of an answer, its reasoning and its content. They
// need no escaping.
func (a *responder) tokens(reasoning, content string) error {
	if !a.turn.request.Stream {
		a.reasoning.WriteString(reasoning)
		a.content.WriteString(content)
		return nil
	}
	a.open()
	switch {
	case content == "":
		a.delta("null", `"reasoning":"`, reasoning, `"`)
	case reasoning == "":
		a.delta("null", `"content":"`, content, `"`)
	default:
		a.delta("null", `"reasoning":"`, reasoning, `","content":"`, content, `"`)
	}
	return a.flush()
}

// end completes the answer.
func (a *responder) end() {
	t := a.turn
	if !t.request.Stream {
		a.whole()
		return
	}
	a.open()
	a.delta(`"`+t.finish+`"`, `"content":""`)
	if t.request.StreamOptions.IncludeUsage {
		a.event(a.head, `],"usage":`, encode(t.usage()), `}`)
	}
	a.done()
}

// whole sends the answer as one object.
func (a *responder) whole() {
	t := a.turn
	message := map[string]any{"role": "assistant", "content": a.content.String()}
	if a.reasoning.Len() > 0 {
		message["reasoning"] = a.reasoning.String()
	}
	writeJSON(a.w, http.StatusOK, map[string]any{
		"id": t.id, "object": "chat.completion", "created": t.arrived.Unix(), "model": t.options.Model,
		"choices": []any{map[string]any{
			"index": 0, "message": message, "logprobs": nil, "finish_reason": t.finish,
		}},
		"usage": t.usage(),
	})
}

// fail ends the answer with an error.
func (a *responder) fail(err *apiError) {
	if !a.started {
		err.write(a.w)
		return
	}
	a.event(encode(err.body()))
	a.done()
}

// done ends the stream.
func (a *responder) done() {
	a.event("[DONE]")
	// A failed write means that the client is gone: nobody is left to be told.
	_ = a.flush()
}

// delta buffers a chunk with one choice: the parts of its delta as they are.
func (a *responder) delta(finish string, parts ...string) {
	a.buf = append(append(append(a.buf, "data: "...), a.head...), `{"index":0,"delta":{`...)
	for _, part := range parts {
		a.buf = append(a.buf, part...)
	}
	usage := ""
	if a.turn.request.StreamOptions.ContinuousUsageStats {
		usage = `,"usage":` + encode(a.turn.usage())
	}
	a.buf = fmt.Appendf(a.buf, "},\"logprobs\":null,\"finish_reason\":%s}]%s}\n\n", finish, usage)
}

// event buffers one event.
func (a *responder) event(data ...string) {
	a.buf = fmt.Appendf(a.buf, "data: %s\n\n", strings.Join(data, ""))
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

// usage is the token count of what was sent so far.
func (t *turn) usage() map[string]any {
	u := map[string]any{
		"prompt_tokens":         t.promptTokens,
		"completion_tokens":     t.sent,
		"total_tokens":          t.promptTokens + t.sent,
		"prompt_tokens_details": map[string]int{"cached_tokens": t.cached},
	}
	if n := t.options.ReasoningTokens; n > 0 {
		u["completion_tokens_details"] = map[string]int{"reasoning_tokens": min(n, t.sent)}
	}
	return u
}

// encode is a value as JSON.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that is sent can be marshaled
	}
	return string(b)
}
