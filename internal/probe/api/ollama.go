package api

import (
	"encoding/json"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// ollama is Ollama's own /api/chat.
type ollama struct{}

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Stream   bool            `json:"stream"`
}

type ollamaMessage struct {
	Role      string       `json:"role"`
	Content   string       `json:"content"`
	Thinking  string       `json:"thinking,omitempty"`
	ToolCalls []ollamaCall `json:"tool_calls,omitempty"`
}

type ollamaCall struct {
	Function ollamaFunction `json:"function"`
}

type ollamaFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Stream implements API.
func (ollama) Stream() Stream {
	return Stream{Options: stream.Options{Decoder: stream.NewOllama(), Lines: true}}
}

// Request implements API.
func (ollama) Request(t Turn) (Request, error) {
	req := ollamaRequest{Model: t.Model, Messages: make([]ollamaMessage, len(t.History)), Stream: true}
	for i := range t.History {
		req.Messages[i] = newOllamaMessage(&t.History[i])
	}
	options := temperature(t.Spec)
	if n := t.Spec.MaxOutputTokens; n > 0 {
		options["num_predict"] = n
	}
	more := map[string]any{}
	if len(options) > 0 {
		more["options"] = options
	}
	if t.Spec.ReasoningEffort != "" {
		more["think"] = t.Spec.ReasoningEffort
	}
	body, err := encode(req, more, t.Target.Extra, t.History)
	return Request{Path: "/api/chat", Accept: "application/x-ndjson", Body: body}, err
}

func newOllamaMessage(m *workload.Message) ollamaMessage {
	out := ollamaMessage{Role: m.Role, Content: m.Content, Thinking: m.Reasoning}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, ollamaCall{ollamaFunction{c.Name, object(c.Arguments)}})
	}
	return out
}
