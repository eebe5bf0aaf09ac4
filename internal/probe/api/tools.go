package api

import "synthetic/internal/probe/workload"

// Templates of models may write tools and calls as they come, so that these keep the
// order of fields that models know.

// tool is a tool as APIs describe it: each has a name of its own for the schema
// of the arguments, and most a type.
type tool struct {
	Type        string         `json:"type,omitempty"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters,omitempty"`
	InputSchema map[string]any `json:"input_schema,omitempty"`
}

// typed wraps a tool, or a call of one, for chats.
type typed struct {
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function any    `json:"function"`
}

// called is a call: Arguments are a text, or JSON.
type called struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

func chatTool(t *workload.Tool) typed {
	return typed{Type: "function", Function: tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}}
}

// addChoice adds the choice of a tool: a word of the API, or what named makes of
// the name of a tool.
func addChoice(f fields, t Turn, word, named func(string) any) {
	switch choice := t.choice(); choice {
	case "":
	case workload.ChoiceAuto, workload.ChoiceRequired, workload.ChoiceNone:
		f["tool_choice"] = word(choice)
	default:
		f["tool_choice"] = named(choice)
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

func asItIs(word string) any { return word }

// addChatTools adds what answers may call, and the form of their text.
func addChatTools(f fields, t Turn) {
	putAll(f, "tools", t.Spec.Tools, chatTool)
	addChoice(f, t, asItIs, func(name string) any {
		return fields{"type": "function", "function": fields{"name": name}}
	})
	if o := t.Spec.Format; o != nil {
		f["response_format"] = fields{
			"type": "json_schema", "json_schema": fields{"name": o.Name, "strict": o.Strict, "schema": o.Schema},
		}
	}
}

// addResponsesTools is addChatTools of responses.
func addResponsesTools(f fields, t Turn) {
	putAll(f, "tools", t.Spec.Tools, func(one *workload.Tool) tool {
		return tool{Type: "function", Name: one.Name, Description: one.Description, Parameters: one.Parameters}
	})
	addChoice(f, t, asItIs, func(name string) any { return fields{"type": "function", "name": name} })
	if o := t.Spec.Format; o != nil {
		f["text"] = fields{
			"format": fields{"type": "json_schema", "name": o.Name, "strict": o.Strict, "schema": o.Schema},
		}
	}
}

// addMessagesTools is addChatTools of messages, which know no response format.
func addMessagesTools(f fields, t Turn) {
	putAll(f, "tools", t.Spec.Tools, func(one *workload.Tool) tool {
		return tool{Name: one.Name, Description: one.Description, InputSchema: one.Parameters}
	})
	addChoice(f, t, func(word string) any {
		if word == workload.ChoiceRequired {
			word = "any"
		}
		return fields{"type": word}
	}, func(name string) any { return fields{"type": "tool", "name": name} })
}

// addOllamaTools is addChatTools of Ollama, which knows no choice.
func addOllamaTools(f fields, t Turn) {
	putAll(f, "tools", t.Spec.Tools, chatTool)
	if o := t.Spec.Format; o != nil {
		f["format"] = o.Schema
	}
}
