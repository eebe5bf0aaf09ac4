package api

import (
	"cmp"
	"net/url"
	"strings"

	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// azureVersion is a generally available version of Azure's API.
const azureVersion = "2024-10-21"

// ChatPath returns the path of chat completions. For Azure it contains the deployment and the
// version.
func ChatPath(t *target.Target, model string) string {
	const path = "/chat/completions"
	if t.API != target.Azure {
		return path
	}
	return "/openai/deployments/" + url.PathEscape(model) + path +
		"?api-version=" + url.QueryEscape(cmp.Or(t.APIVersion, azureVersion))
}

// chat builds a request for OpenAI's /chat/completions, or Azure's.
func chat(t *Turn) (Request, error) {
	f := fields{
		"model": t.Model, "messages": convertAll(t.History, chatMessage),
		"stream": true, "stream_options": fields{"include_usage": true},
	}
	limit := maxTokens
	if t.leavesOut(limit) {
		limit = maxCompletionTokens
	}
	put(f, limit, t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	putAll(f, "tools", t.Spec.Tools, chatTool)
	addToolChoice(f, t, sameWord, func(name string) any {
		return fields{"type": "function", "function": fields{"name": name}}
	})
	if schema := t.Spec.ResponseSchema; schema != nil {
		f["response_format"] = fields{
			"type": "json_schema", "json_schema": fields{"name": schemaName, "strict": true, "schema": schema},
		}
	}
	return t.request(ChatPath(t.Target, t.Model), f)
}

// chatMessage converts a message. It always contains content, which is null beside tool calls,
// because strict servers reject a message with neither.
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
	reasoningField := "reasoning_content"
	if m.ReasoningField == "reasoning" {
		reasoningField = m.ReasoningField
	}
	put(out, reasoningField, m.Reasoning)
	put(out, "tool_call_id", m.ToolCallID)
	putAll(out, "tool_calls", m.ToolCalls, func(c *workload.ToolCall) wrapped {
		return wrapped{c.ID, "function", toolCall{c.Name, c.Arguments}}
	})
	return out
}

// completions builds a request for OpenAI's older /completions, with the history as one prompt.
func completions(t *Turn) (Request, error) {
	f := fields{
		"model": t.Model, "prompt": flatten(t.History), "stream": true, "stream_options": fields{"include_usage": true},
	}
	put(f, maxTokens, t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	return t.request("/completions", f)
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
