package api

import (
	"net/url"

	"synthetic/internal/probe/stream"
)

// triton is generate_stream of Triton's generate extension, with the names that
// TensorRT-LLM has for its inputs. Those that a model lacks are parameters to it.
type triton struct{}

type tritonRequest struct {
	Text      string `json:"text_input"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	Stream    bool   `json:"stream"`
}

// Stream implements API.
func (triton) Stream() Stream {
	s := decodedBy(stream.NewGenerate())
	s.Endless = true
	return s
}

// Request implements API.
func (triton) Request(t Turn) (Request, error) {
	req := tritonRequest{Text: flatten(t.History), MaxTokens: t.Spec.MaxOutputTokens, Stream: true}
	body, err := encode(req, temperature(t.Spec), t.Target.Extra, t.History)
	return Request{Path: "/v2/models/" + url.PathEscape(t.Model) + "/generate_stream", Body: body}, err
}
