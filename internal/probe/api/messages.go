package api

import (
	"cmp"
	"encoding/json"
	"strings"

	"synthetic/internal/probe/workload"
)

// anyLength is the limit of an answer where the workload has none: the API
// demands one.
const anyLength = 4096

// messages is Anthropic's /messages.
func messages(t Turn) (Request, error) {
	var all []fields
	var system []string
	var results []fields // of the last message, if it has nothing else
	for i := range t.History {
		m := &t.History[i]
		switch m.Role {
		case "system":
			system = append(system, m.Content)
		case "tool": // a result is a user's word; those of one answer share a message
			result := fields{"type": "tool_result", "tool_use_id": m.ToolCallID}
			put(result, "content", m.Content)
			if results == nil {
				all = append(all, nil)
			}
			results = append(results, result)
			all[len(all)-1] = fields{"role": "user", "content": results}
		default:
			all, results = append(all, fields{"role": m.Role, "content": messagesContent(m)}), nil
		}
	}
	f := fields{"model": t.Model, "messages": all, "max_tokens": cmp.Or(t.Spec.MaxOutputTokens, anyLength), "stream": true}
	put(f, "system", strings.Join(system, "\n\n"))
	put(f, "temperature", t.Spec.Temperature)
	addMessagesTools(f, t)
	return t.request("/messages", "", f)
}

// messagesContent is a text, or the blocks of a message with images or tool calls.
func messagesContent(m *workload.Message) any {
	if len(m.ToolCalls) == 0 && len(m.Images) == 0 {
		return m.Content
	}
	var blocks []fields
	if m.Content != "" {
		blocks = append(blocks, fields{"type": "text", "text": m.Content})
	}
	for _, i := range m.Images {
		blocks = append(blocks, fields{"type": "image", "source": fields{"type": "base64", "media_type": i.Type, "data": i.Data}})
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, fields{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object(c.Arguments)})
	}
	return blocks
}

// object is the JSON object that the arguments of a tool call are, an empty one
// if they are none.
func object(arguments string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}
