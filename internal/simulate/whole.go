package simulate

import "net/http"

// whole sends an answer as one JSON object, when it is complete.
type whole struct {
	turn               *turn
	w                  http.ResponseWriter
	reasoning, content []byte
}

// start implements responder.
func (*whole) start() error { return nil }

// tokens implements responder.
func (a *whole) tokens(reasoning, content []byte) error {
	a.reasoning = append(a.reasoning, reasoning...)
	a.content = append(a.content, content...)
	return nil
}

// end implements responder.
func (a *whole) end() {
	t := a.turn
	message := map[string]any{"role": "assistant", "content": string(a.content)}
	if len(a.reasoning) > 0 {
		field := "reasoning"
		if t.options.Dialect.ReasoningContent {
			field = "reasoning_content"
		}
		message[field] = string(a.reasoning)
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
