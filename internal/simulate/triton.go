package simulate

import (
	"encoding/json"
	"net/http"
	"strings"
)

// readTriton decodes a request of Triton's generate extension, in the words of
// the ensemble of TensorRT-LLM. Whether it streams, the path says.
func readTriton(r *http.Request, body []byte, q *chatRequest) error {
	var in struct {
		Text        string   `json:"text_input"`
		MaxTokens   *int     `json:"max_tokens"`
		Temperature *float64 `json:"temperature"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	q.prompt(texts{in.Text})
	q.Model, q.MaxCompletionTokens, q.Temperature = r.PathValue("model"), in.MaxTokens, in.Temperature
	q.Stream = strings.HasSuffix(r.URL.Path, "_stream")
	return nil
}

// tritonEvents are responses without a count of tokens; the stream just ends.
type tritonEvents struct{ *responder }

func streamTriton(a *responder) events { return tritonEvents{a} }

func (s tritonEvents) piece(p piece) { s.data(encode(s.turn.generated(p.reasoning + p.content))) }

func (s tritonEvents) end() {}

func (s tritonEvents) fail(e *apiError) { s.data(encode(plainRefusal(e))) }

func wholeTriton(a *responder) any {
	return a.turn.generated(a.reasoning.String() + a.content.String())
}

// generated is a response with some text.
func (t *turn) generated(text string) map[string]any {
	return map[string]any{
		"model_name": t.model, "model_version": "1", "sequence_end": false, "sequence_id": 0, "sequence_start": false, "text_output": text,
	}
}
