package api

import "synthetic/internal/probe/workload"

// tool is a tool as APIs describe it: each has a name of its own for the schema
// of the arguments, and most a type.
type tool struct {
	Type        string         `json:"type,omitempty"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters,omitempty"`
	InputSchema map[string]any `json:"input_schema,omitempty"`
}

// chatTool wraps one for chat completions.
type chatTool struct {
	Type     string `json:"type"`
	Function tool   `json:"function"`
}

// addTools adds what answers may call, in the form of an API.
func addTools[T any](more map[string]any, t Turn, form func(workload.Tool) T) {
	var tools []T
	for _, one := range t.Spec.Tools {
		tools = append(tools, form(one))
	}
	if tools != nil {
		more["tools"] = tools
	}
}

func newChatTool(t workload.Tool) chatTool {
	return chatTool{"function", tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}}
}

func newResponsesTool(t workload.Tool) tool {
	return tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters}
}

func newMessagesTool(t workload.Tool) tool {
	return tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters}
}

// addChoice adds the choice of a tool: a word of the API, or what named makes of
// the name of a tool.
func addChoice(more map[string]any, t Turn, word, named func(string) any) {
	switch choice := t.choice(); choice {
	case "":
	case workload.ChoiceAuto, workload.ChoiceRequired, workload.ChoiceNone:
		more["tool_choice"] = word(choice)
	default:
		more["tool_choice"] = named(choice)
	}
}

// choice is the workload's choice of a tool for this turn. One that gives results
// leaves it to the model whether to call again: it would call for ever.
func (t Turn) choice() string {
	if n := len(t.History); n > 0 && t.History[n-1].Role == workload.RoleTool {
		return ""
	}
	return t.Spec.ToolChoice
}

// addChatTools adds what answers may call, and the form of their text.
func addChatTools(more map[string]any, t Turn) {
	addTools(more, t, newChatTool)
	addChoice(more, t, func(word string) any { return word }, func(name string) any {
		return map[string]any{"type": "function", "function": map[string]string{"name": name}}
	})
	if f := t.Spec.Format; f != nil {
		more["response_format"] = map[string]any{
			"type": "json_schema", "json_schema": map[string]any{"name": f.Name, "strict": f.Strict, "schema": f.Schema},
		}
	}
}

// addResponsesTools is addChatTools of responses.
func addResponsesTools(more map[string]any, t Turn) {
	addTools(more, t, newResponsesTool)
	addChoice(more, t, func(word string) any { return word }, func(name string) any {
		return map[string]string{"type": "function", "name": name}
	})
	if f := t.Spec.Format; f != nil {
		more["text"] = map[string]any{
			"format": map[string]any{"type": "json_schema", "name": f.Name, "strict": f.Strict, "schema": f.Schema},
		}
	}
}

// addMessagesTools is addChatTools of messages, which know no response format.
func addMessagesTools(more map[string]any, t Turn) {
	addTools(more, t, newMessagesTool)
	addChoice(more, t, func(word string) any {
		if word == workload.ChoiceRequired {
			word = "any"
		}
		return map[string]string{"type": word}
	}, func(name string) any { return map[string]string{"type": "tool", "name": name} })
}

// addOllamaTools is addChatTools of Ollama, which knows no choice.
func addOllamaTools(more map[string]any, t Turn) {
	addTools(more, t, newChatTool)
	if f := t.Spec.Format; f != nil {
		more["format"] = f.Schema
	}
}
