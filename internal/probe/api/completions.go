package api

import (
	"strings"

	"synthetic/internal/probe/stream"
	"synthetic/internal/probe/workload"
)

// completions is OpenAI's older /completions, of which the history is flattened
// into one prompt.
type completions struct{}

type completionsRequest struct {
	Model         string        `json:"model"`
	Prompt        string        `json:"prompt"`
	MaxTokens     int           `json:"max_tokens,omitempty"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
}

// Stream implements API.
func (completions) Stream() Stream { return decodedBy(stream.NewCompletions()) }

// Request implements API.
func (completions) Request(t Turn) (Request, error) {
	req := completionsRequest{
		Model: t.Model, Prompt: flatten(t.History), MaxTokens: t.Spec.MaxOutputTokens,
		Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
	}
	body, err := encode(req, temperature(t.Spec), t.Target.Extra, t.History)
	return Request{Path: "/completions", Body: body}, err
}

// flatten writes a history as one text: each message behind its role, and the
// assistant's turn last. Each turn's prompt begins with that of the turn before,
// so that a prefix cache knows it.
func flatten(history []workload.Message) string {
	var b strings.Builder
	for _, m := range history {
		switch m.Role {
		case "user":
			b.WriteString("User: ")
		case "assistant":
			b.WriteString("Assistant: ")
		}
		b.WriteString(strings.TrimSpace(m.Content))
		b.WriteString("\n\n")
	}
	b.WriteString("Assistant:")
	return b.String()
}

// temperature is the only sampling parameter that every API has by one name.
func temperature(s workload.Spec) map[string]any {
	more := map[string]any{}
	if s.Temperature != nil {
		more["temperature"] = *s.Temperature
	}
	return more
}
