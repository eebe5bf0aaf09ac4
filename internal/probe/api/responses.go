package api

import (
	"fmt"

	"synthetic/internal/probe/workload"
)

// responses is OpenAI's /responses, which is sent the whole history: nothing is
// stored at the server.
func responses(t Turn) (Request, error) {
	var input []fields
	for i := range t.History {
		input = append(input, responsesItems(i, &t.History[i])...)
	}
	f := fields{"model": t.Model, "input": input, "stream": true, "store": false}
	put(f, "max_output_tokens", t.Spec.MaxOutputTokens)
	put(f, "temperature", t.Spec.Temperature)
	if t.Spec.ReasoningEffort != "" {
		f["reasoning"] = fields{"effort": t.Spec.ReasoningEffort}
	}
	addResponsesTools(f, t)
	return t.request("/responses", "", f)
}

// responsesItems are the items of a message: its text, then its tool calls.
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
	out := fields{"type": "message", "role": m.Role, "content": []fields{text}}
	if m.Role == "assistant" { // of an answer of their own strict servers want more
		text["type"], text["annotations"] = "output_text", []any{}
		out["id"], out["status"] = fmt.Sprintf("msg_%d", number), "completed"
		return out
	}
	for _, i := range m.Images {
		out["content"] = append(out["content"].([]fields), fields{"type": "input_image", "image_url": i.URL()})
	}
	return out
}
