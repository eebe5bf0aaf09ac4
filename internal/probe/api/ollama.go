package api

import "synthetic/internal/probe/workload"

// ollama is Ollama's own /api/chat.
func ollama(t Turn) (Request, error) {
	options := fields{}
	put(options, "temperature", t.Spec.Temperature)
	put(options, "num_predict", max(t.Spec.MaxOutputTokens, 0))
	f := fields{"model": t.Model, "messages": each(t.History, ollamaMessage), "stream": true}
	if len(options) > 0 {
		f["options"] = options
	}
	put(f, "think", t.Spec.ReasoningEffort)
	addOllamaTools(f, t)
	return t.request("/api/chat", "application/x-ndjson", f)
}

func ollamaMessage(m *workload.Message) fields {
	out := fields{"role": m.Role, "content": m.Content}
	put(out, "thinking", m.Reasoning)
	putAll(out, "images", m.Images, func(i *workload.Image) string { return i.Data })
	putAll(out, "tool_calls", m.ToolCalls, func(c *workload.ToolCall) typed {
		return typed{Function: called{c.Name, object(c.Arguments)}}
	})
	return out
}
