package api

import (
	"cmp"
	"encoding/json"
	"strings"

	"synthetic/internal/probe/workload"
)

// defaultLimit is the token limit if the workload has none, because the API requires one.
const defaultLimit = 4096

// messages builds a request for Anthropic's /messages, which has no response format.
func messages(t *Turn) (Request, error) {
	var all []fields
	var system []string
	var results []fields // of the last message, if it has only tool results
	for i := range t.History {
		m := &t.History[i]
		switch m.Role {
		case "system":
			system = append(system, m.Content)
		case "tool": // the results for one answer are one message of the user
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
	f := fields{"model": t.Model, "messages": all, maxTokens: cmp.Or(t.Spec.MaxOutputTokens, defaultLimit), "stream": true}
	put(f, "system", strings.Join(system, "\n\n"))
	put(f, "temperature", t.Spec.Temperature)
	putAll(f, "tools", t.Spec.Tools, func(t *workload.Tool) tool {
		return tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}
	})
	addToolChoice(f, t, func(word string) any {
		if word == workload.ChoiceRequired {
			word = "any"
		}
		return fields{"type": word}
	}, func(name string) any { return fields{"type": "tool", "name": name} })
	return t.request("/messages", f)
}

// messagesContent returns a text, or blocks for a message with images or tool calls.
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
		blocks = append(blocks, fields{"type": "tool_use", "id": c.ID, "name": c.Name, "input": argumentsObject(c.Arguments)})
	}
	return blocks
}

// argumentsObject returns the arguments of a tool call as a JSON object, which is empty if they
// are not an object.
func argumentsObject(arguments string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}
