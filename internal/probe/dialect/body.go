package dialect

import "synthetic/internal/probe/workload"

// fields is a JSON object.
type fields map[string]any

// put adds a field, unless the value is empty.
func put[T comparable](f fields, name string, v T) {
	if v != *new(T) {
		f[name] = v
	}
}

// putAll adds a list, unless it is empty, and converts its elements.
func putAll[S, T any](f fields, name string, in []S, convert func(*S) T) {
	if len(in) > 0 {
		f[name] = convertAll(in, convert)
	}
}

func convertAll[S, T any](in []S, convert func(*S) T) []T {
	out := make([]T, len(in))
	for i := range in {
		out[i] = convert(&in[i])
	}
	return out
}

// These types keep the order of fields that models know, because chat templates may copy tools
// and calls unchanged.

// schemaName is the name of every schema of answers, because the APIs require a name.
const schemaName = "answer"

// tool describes a tool. Each API uses some of the fields.
type tool struct {
	Type        string         `json:"type,omitempty"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters,omitempty"`
	InputSchema map[string]any `json:"input_schema,omitempty"`
}

// wrapped is a tool or a call in the format of chat completions.
type wrapped struct {
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function any    `json:"function"`
}

// toolCall is one call.
type toolCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func chatTool(t *workload.Tool) wrapped {
	return wrapped{Type: "function", Function: tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}}
}

// addToolChoice adds the workload's tool choice, converted by word or, for the name of a tool, by
// named. It omits it after tool results, because a model that must call a tool never stops.
func addToolChoice(f fields, t *Turn, word, named func(string) any) {
	if n := len(t.History); n > 0 && t.History[n-1].Role == workload.RoleTool {
		return
	}
	switch choice := t.Spec.ToolChoice; choice {
	case "":
	case workload.ChoiceAuto, workload.ChoiceRequired, workload.ChoiceNone:
		f["tool_choice"] = word(choice)
	default:
		f["tool_choice"] = named(choice)
	}
}

func sameWord(word string) any { return word }
