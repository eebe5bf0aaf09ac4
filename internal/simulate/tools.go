package simulate

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// toolCalls is the finish reason of an answer that calls a tool.
const toolCalls = "tool_calls"

type tool struct {
	Function function `json:"function"`
}

type function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// toolCall is a call in an answer or in a history.
type toolCall struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Function calledFunction `json:"function"`
}

type calledFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// toolChoice is a mode such as "none", or the name of a tool to call.
type toolChoice struct{ mode, name string }

func (c *toolChoice) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &c.mode) == nil {
		return nil
	}
	var named struct {
		Name     string
		Function struct{ Name string }
	}
	err := json.Unmarshal(b, &named)
	c.name = named.Function.Name + named.Name
	return err
}

// function returns the tool that the answer calls, nil if it calls none. The model calls a tool
// unless the last message is the result of one.
func (q *chatRequest) function() *function {
	if len(q.Tools) == 0 || q.ToolChoice.mode == "none" || q.Messages[len(q.Messages)-1].Role == "tool" {
		return nil
	}
	i := 0
	if name := q.ToolChoice.name; name != "" {
		i = slices.IndexFunc(q.Tools, func(t tool) bool { return t.Function.Name == name })
	}
	if i < 0 {
		return nil
	}
	return &q.Tools[i].Function
}

// structured returns the text of an answer with a prescribed form: the arguments of a tool call, or
// JSON that fits a schema. It returns false if the form is free.
func (t *turn) structured(r *rand.Rand) (text string, ok bool) {
	q := &t.request
	if f := q.function(); f != nil {
		t.call = &toolCall{ID: "call_" + t.id, Type: "function", Function: calledFunction{Name: f.Name}}
		return instance(f.Parameters, r), true
	}
	if q.Format.Type == "json_schema" {
		return instance(q.Format.JSONSchema.Schema, r), true
	}
	return "", false
}

// instance returns a value, as JSON, that fits a JSON schema. It reads type, enum, properties, items, minimum
// and maximum, and returns a string for other schemas.
func instance(schema json.RawMessage, r *rand.Rand) string {
	root := map[string]any{"type": "object"}
	_ = json.Unmarshal(schema, &root) // invalid JSON counts as an empty object
	return encode(sample(root, r))
}

func sample(schema map[string]any, r *rand.Rand) any {
	if all, ok := schema["enum"].([]any); ok && len(all) > 0 {
		return all[r.IntN(len(all))]
	}
	properties, isObject := schema["properties"].(map[string]any)
	switch kind := schema["type"]; {
	case kind == "object" || isObject:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			part, _ := properties[name].(map[string]any)
			out[name] = sample(part, r)
		}
		return out
	case kind == "array":
		items, _ := schema["items"].(map[string]any)
		return []any{sample(items, r)}
	case kind == "integer" || kind == "number":
		low, isLow := schema["minimum"].(float64)
		high, isHigh := schema["maximum"].(float64)
		if !isHigh {
			high = low + 100
		}
		if !isLow {
			low = min(low, high)
		}
		return math.Floor(low + r.Float64()*(high-low))
	case kind == "boolean":
		return r.IntN(2) == 0
	case kind == "null":
		return nil
	}
	a := newAnswer(r.Uint64(), 0)
	return strings.TrimSpace(string(append(a.word(), a.word()...)))
}
