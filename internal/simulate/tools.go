package simulate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// toolCalls is why an answer ends that calls a tool.
const toolCalls = "tool_calls"

// tool is one that a request offers.
type tool struct {
	Function function `json:"function"`
}

type function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// toolCall is a call, of an answer or in a history.
type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function called `json:"function"`
}

type called struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// arguments are JSON, in a text or, with Ollama, as they are.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*string)(a)) != nil {
		*a = arguments(b)
	}
	return nil
}

// with is the call with its arguments.
func (c toolCall) with(text string) toolCall {
	c.Function.Arguments = arguments(text)
	return c
}

// toolChoice says whether a tool is to be called, and which.
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

// function is the tool to be called, nil for none. A model calls what it is
// offered until it has a result.
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

// structured is the text of an answer that has to have a form: the arguments of
// a call, or JSON. It is not ok if the text is free.
func (t *turn) structured(r *rand.Rand) (text string, ok bool) {
	q := &t.request
	if f := q.function(); f != nil {
		return t.calling(f, instance(f.Parameters, r)), true
	}
	switch q.Format.Type {
	case jsonSchema:
		return instance(q.Format.JSONSchema.Schema, r), true
	case jsonObject:
		return instance(json.RawMessage(`{"properties":{"answer":{"type":"string"}}}`), r), true
	}
	return "", false
}

// calling makes the turn one that calls a tool, well or as with a parser that
// is broken. It returns the text to generate.
func (t *turn) calling(f *function, arguments string) string {
	switch t.fault.Kind {
	case ToolMarkup:
		return fmt.Sprintf("<tool_call>\n{\"name\": %s, \"arguments\": %s}\n</tool_call>", encode(f.Name), arguments)
	case BadArguments:
		arguments = arguments[:len(arguments)-1] + ", "
	}
	t.call = &toolCall{ID: "call_" + t.id, Type: "function", Function: called{Name: f.Name}}
	return arguments
}
