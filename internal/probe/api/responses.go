package api

import (
	"fmt"

	"synthetic/internal/probe/workload"
)

// responses builds a request for OpenAI's /responses. It sends the whole history and asks the
// server not to store it.
func responses(t *Turn) (Request, error) {
	var input []fields
	for i := range t.History {
		input = append(input, responsesItems(i, &t.History[i])...)
	}
	f := fields{"model": t.Model, "input": input, "stream": true, "store": false}
	put(f, maxOutputTokens, t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	putAll(f, "tools", t.Spec.Tools, func(t *workload.Tool) tool {
		return tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	})
	addToolChoice(f, t, sameWord, func(name string) any { return fields{"type": "function", "name": name} })
	if schema := t.Spec.ResponseSchema; schema != nil {
		f["text"] = fields{
			"format": fields{"type": "json_schema", "name": schemaName, "strict": true, "schema": schema},
		}
	}
	return t.request("/responses", f)
}

// responsesItems converts a message: its text, then its tool calls.
func responsesItems(number int, m *workload.Message) (items []fields) {
	if m.Role == "tool" {
		return []fields{{"type": "function_call_output", "call_id": m.ToolCallID, "output": m.Content}}
	}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		items = append(items, responsesMessage(number, m))
	}
	for _, c := range m.ToolCalls {
		items = append(items, fields{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
	}
	return items
}

func responsesMessage(number int, m *workload.Message) fields {
	text := fields{"type": "input_text"}
	put(text, "text", m.Content)
	content := []fields{text}
	out := fields{"type": "message", "role": m.Role}
	if m.Role == "assistant" { // strict servers require these fields in their own answers
		text["type"], text["annotations"] = "output_text", []any{}
		out["id"], out["status"] = fmt.Sprintf("msg_%d", number), "completed"
	} else {
		for _, i := range m.Images {
			content = append(content, fields{"type": "input_image", "image_url": i.URL()})
		}
	}
	out["content"] = content
	return out
}
