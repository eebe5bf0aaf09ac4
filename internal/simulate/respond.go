package simulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responder sends an answer to the client.
type responder interface {
	// tokens sends the next text of an answer, its reasoning and its content.
	tokens(reasoning, content string) error
	// end completes the answer, fail ends it with an error.
	end()
	fail(*apiError)
}

// responder returns what the request asks for. With an engine of its own a
// stream begins before its first token.
func (t *turn) responder(w http.ResponseWriter) responder {
	if !t.request.Stream {
		return &whole{turn: t, w: w}
	}
	e := newEvents(w, t)
	if t.driver == nil {
		e.open()
		_ = e.flush() // to a client that went: the next event fails as well
	}
	return e
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

// whole sends an answer as one JSON object, when it is complete.
type whole struct {
	turn               *turn
	w                  http.ResponseWriter
	reasoning, content strings.Builder
}

// tokens implements responder.
func (a *whole) tokens(reasoning, content string) error {
	a.reasoning.WriteString(reasoning)
	a.content.WriteString(content)
	return nil
}

// end implements responder.
func (a *whole) end() {
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

// fail implements responder.
func (a *whole) fail(err *apiError) { err.write(a.w) }

// encode is a value as JSON.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that is sent can be marshaled
	}
	return string(b)
}

// events sends an answer as a stream of server-sent events, each flushed on
// its own. What repeats from chunk to chunk is encoded once.
type events struct {
	turn    *turn
	w       http.ResponseWriter
	buf     []byte
	started bool

	head string // of a chunk up to its choices
}

func newEvents(w http.ResponseWriter, t *turn) *events {
	head := fmt.Sprintf(`{"id":%s,"object":"chat.completion.chunk","created":%d,"model":%s,"choices":[`,
		encode(t.id), t.arrived.Unix(), encode(t.options.Model))
	return &events{turn: t, w: w, head: head}
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
	return http.NewResponseController(e.w).Flush()
}
