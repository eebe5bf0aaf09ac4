package simulate

import (
	"encoding/json"
	"net/http"
)

// readCompletion decodes a request of /v1/completions, whose prompt has no roles. It ignores
// logprobs, which is a number in this API.
func readCompletion(_ *http.Request, body []byte, q *chatRequest) error {
	in := struct {
		*chatRequest
		Prompt   texts           `json:"prompt"`
		Logprobs json.RawMessage `json:"logprobs"`
	}{chatRequest: q}
	err := json.Unmarshal(body, &in)
	q.setPrompt(in.Prompt)
	return err
}

// completionEvents encodes a streamed completion. Reasoning is part of its text.
type completionEvents struct{ chunks }

func streamCompletion(a *responder) events { return completionEvents{a.chunks("text_completion")} }

func (s completionEvents) piece(p piece) { s.choice(`"text":`+encode(p.text()), "null") }

func (s completionEvents) end() {
	s.choice(`"text":""`, `"`+s.turn.finish+`"`)
	s.done()
}

func wholeCompletion(a *responder) any {
	return a.turn.completion("text_completion", map[string]any{
		"index": 0, "text": a.soFar().text(), "logprobs": nil, "finish_reason": a.turn.finish,
	})
}

func (p piece) text() string { return p.reasoning + p.content }
