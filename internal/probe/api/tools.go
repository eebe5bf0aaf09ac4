package api

import "synthetic/internal/probe/workload"

// chatTool is a tool as chat completions describe it.
type chatTool struct {
	Type     string         `json:"type"`
	Function functionSchema `json:"function"`
}

type functionSchema struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters"`
}

// addChatTools adds what answers may call, and the form of their text.
func addChatTools(more map[string]any, t Turn) {
	var tools []chatTool
	for _, tool := range t.Spec.Tools {
		tools = append(tools, chatTool{"function", functionSchema{tool.Name, tool.Description, tool.Parameters}})
	}
	if tools != nil {
		more["tools"] = tools
	}
	switch choice := t.Choice(); choice {
	case "":
	case workload.ChoiceAuto, workload.ChoiceRequired, workload.ChoiceNone:
		more["tool_choice"] = choice
	default:
		more["tool_choice"] = map[string]any{"type": "function", "function": map[string]string{"name": choice}}
	}
	if f := t.Spec.Format; f != nil {
		more["response_format"] = map[string]any{
			"type": "json_schema", "json_schema": map[string]any{"name": f.Name, "strict": f.Strict, "schema": f.Schema},
		}
	}
}

// Choice is the workload's choice of a tool for this turn. One that gives results
// leaves it to the model whether to call again: it would call for ever.
func (t Turn) Choice() string {
	if n := len(t.History); n > 0 && t.History[n-1].Role == workload.RoleTool {
		return ""
	}
	return t.Spec.ToolChoice
}
