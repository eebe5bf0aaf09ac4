package dialect

import (
	"strings"

	"synthetic/internal/probe/workload"
)

// completionsBody returns the fields for OpenAI's older /completions, with the history as one prompt. Its answers are
// those of chat completions.
func completionsBody(t *Turn) fields {
	f := fields{
		"model": t.Model, "prompt": flatten(t.History), "stream": true, "stream_options": fields{"include_usage": true},
	}
	put(f, maxTokens, t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	return f
}

// flatten writes a history as one text that ends where the assistant continues. The prompt of
// each turn begins with the previous prompt, so a prefix cache contains it.
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
