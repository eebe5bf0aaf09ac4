package simulate

import (
	"encoding/json"
	"net/http"
	"strings"
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

// readTriton decodes a request of Triton's generate extension, with the fields of TensorRT-LLM's
// ensemble. The path says whether the answer is streamed.
func readTriton(r *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Text        string   `json:"text_input"`
		MaxTokens   *int     `json:"max_tokens"`
		Temperature *float64 `json:"temperature"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	q.setPrompt(texts{in.Text})
	q.Model, q.MaxCompletionTokens, q.Temperature = r.PathValue("model"), in.MaxTokens, in.Temperature
	q.Stream = strings.HasSuffix(r.URL.Path, "_stream")
	return nil
}

// tritonEvents encodes a stream of Triton. It has no token counts and no mark at its end.
type tritonEvents struct{ *responder }

func streamTriton(a *responder) events { return tritonEvents{a} }

func (s tritonEvents) piece(p piece) { s.data(encode(s.turn.tritonResponse(p))) }

func (s tritonEvents) end() {}

func (s tritonEvents) fail(e *apiError) { s.data(encode(plainError(e))) }

func wholeTriton(a *responder) any { return a.turn.tritonResponse(a.soFar()) }

func (t *turn) tritonResponse(p piece) map[string]any {
	return map[string]any{
		"model_name": t.model, "model_version": "1", "sequence_end": false, "sequence_id": 0, "sequence_start": false, "text_output": p.text(),
	}
}
