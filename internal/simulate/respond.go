package simulate

import (
	"encoding/json"
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
