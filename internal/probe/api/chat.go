package api

import (
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// chat is OpenAI's /chat/completions, and Azure's.
func chat(t Turn) (Request, error) {
	f := fields{
		"model": t.Model, "messages": each(t.History, chatMessage), "stream": true, "stream_options": fields{"include_usage": true},
	}
	limit := target.MaxTokens
	if t.Limit == target.MaxCompletionTokens {
		limit = t.Limit
	}
	put(f, string(limit), t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	put(f, "reasoning_effort", t.Spec.ReasoningEffort)
	if t.Spec.ChatTemplate != nil {
		f["chat_template_kwargs"] = t.Spec.ChatTemplate
	}
	addChatTools(f, t)
	return t.request(ChatPath(t.Target, t.Model), "", f)
}

// chatMessage is a message of the history. Content is never left out: null
// stands beside tool calls, and strict servers refuse a message with neither.
func chatMessage(m *workload.Message) fields {
	out := fields{"role": m.Role, "content": nil}
	switch {
	case len(m.Images) > 0:
		parts := []fields{{"type": "text", "text": m.Content}}
		for _, i := range m.Images {
			parts = append(parts, fields{"type": "image_url", "image_url": fields{"url": i.URL()}})
		}
		out["content"] = parts
	case m.Content != "" || len(m.ToolCalls) == 0:
		out["content"] = m.Content
	}
	field := "reasoning_content"
	if m.ReasoningField == "reasoning" {
		field = m.ReasoningField
	}
	put(out, field, m.Reasoning)
	put(out, "tool_call_id", m.ToolCallID)
	putAll(out, "tool_calls", m.ToolCalls, func(c *workload.ToolCall) typed {
		return typed{c.ID, "function", called{c.Name, c.Arguments}}
	})
	return out
}
