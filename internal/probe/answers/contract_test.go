package answers_test

import (
	"strings"
	"testing"

	"synthetic/internal/probe/answers"
	"synthetic/internal/probe/workload"
)

// weather returns a workload with two tools.
func weather(choice string) workload.Spec {
	city := map[string]any{"type": "object", "required": []any{"city"}, "additionalProperties": false,
		"properties": map[string]any{
			"city": map[string]any{"type": "string", "minLength": 1},
			"days": map[string]any{"type": "integer", "minimum": 1, "maximum": 14},
		}}
	return workload.Spec{
		Answers: workload.Answers{ToolChoice: choice, Tools: []workload.Tool{{Name: "get_weather", Parameters: city}, {Name: "get_time", Parameters: map[string]any{"type": "object"}}}},
	}
}

func call(id, name, arguments string) workload.ToolCall {
	return workload.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func newContract(t *testing.T, spec workload.Spec) *answers.Contract {
	t.Helper()
	c, err := answers.NewContract(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCalls(t *testing.T) {
	oslo := call("a", "get_weather", `{"city": "Oslo"}`)
	for name, tc := range map[string]struct {
		choice string
		answer answers.Answer
		want   string
	}{
		"valid":                {"", answers.Answer{Calls: []workload.ToolCall{oslo}}, ""},
		"valid, with a text":   {"", answers.Answer{Text: "I look.", Calls: []workload.ToolCall{oslo}}, ""},
		"parallel":             {"", answers.Answer{Calls: []workload.ToolCall{oslo, call("b", "get_time", `{}`)}}, ""},
		"a text alone":         {"", answers.Answer{Text: "It rains."}, ""},
		"unknown":              {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_wether", `{}`)}}, `call 1: no tool is called "get_wether"`},
		"a name of two":        {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weatherget_time", `{}`)}}, "no tool is called"},
		"no JSON":              {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{"city": Oslo}`)}}, `call 1: the arguments of "get_weather": invalid JSON: invalid character 'O'`},
		"half":                 {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{"city": "Os`)}}, "invalid JSON"},
		"none":                 {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", ``)}}, "invalid JSON"},
		"two values":           {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{"city": "Oslo"}{"city": "Oslo"}`)}}, "invalid JSON"},
		"JSON within JSON":     {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `"{\"city\": \"Oslo\"}"`)}}, "not valid by the schema: at '': got string, want object"},
		"wrong type":           {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{"city": 7}`)}}, "not valid by the schema: at '/city': got number, want string"},
		"missing":              {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{}`)}}, "missing property 'city'"},
		"invented":             {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{"city": "Oslo", "town": "x"}`)}}, "additional properties 'town' not allowed"},
		"out of range":         {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{"city": "Oslo", "days": 15}`)}}, "/days"},
		"the second of two":    {"", answers.Answer{Calls: []workload.ToolCall{oslo, call("b", "get_weather", `[]`)}}, "call 2: "},
		"without an id":        {"", answers.Answer{Calls: []workload.ToolCall{call("", "get_time", `{}`)}}, `call 1 has the ID ""`},
		"one id for two":       {"", answers.Answer{Calls: []workload.ToolCall{oslo, oslo}}, `call 2 has the ID "a"`},
		"leaked, Qwen":         {"", answers.Answer{Text: "<tool_call>\n{\"name\": \"get_weather\"}\n</tool_call>"}, `"<tool_call"`},
		"leaked, Llama":        {"", answers.Answer{Text: `<|python_tag|>get_weather.call(city="Oslo")`}, `"<|python_tag|>"`},
		"leaked, Mistral":      {"", answers.Answer{Text: `[TOOL_CALLS][{"name": "get_weather"}]`}, `"[TOOL_CALLS]"`},
		"leaked, DeepSeek":     {"", answers.Answer{Text: "<｜tool▁calls▁begin｜>"}, "markup"},
		"leaked beside a call": {"", answers.Answer{Text: "</tool_call>", Calls: []workload.ToolCall{oslo}}, "markup"},
		"prose about tools":    {"", answers.Answer{Text: "I can call tools [such as get_weather] <here>."}, ""},
		"cut":                  {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", `{"city": "Os`)}, Cut: true}, ""},
		"cut and unknown":      {"", answers.Answer{Calls: []workload.ToolCall{call("a", "get_wet", ``)}, Cut: true}, "no tool is called"},
		"required":             {"required", answers.Answer{Text: "It rains."}, "no tool was called although tool_choice is required"},
		"required, cut":        {"required", answers.Answer{Text: "It", Cut: true}, ""},
		"required, not sent":   {"required", answers.Answer{Text: "It rains.", ChoiceOmitted: true}, ""},
		"auto":                 {"auto", answers.Answer{Text: "It rains."}, ""},
		"forbidden":            {"none", answers.Answer{Calls: []workload.ToolCall{oslo}}, "although tool_choice is none"},
		"another than named":   {"get_time", answers.Answer{Calls: []workload.ToolCall{oslo}}, `the tool "get_weather" was called although tool_choice is get_time`},
		"the named":            {"get_weather", answers.Answer{Calls: []workload.ToolCall{oslo}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			checkError(t, newContract(t, weather(tc.choice)).CheckCalls(tc.answer), tc.want)
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestText(t *testing.T) {
	spec := weather("")
	spec.ResponseSchema = map[string]any{
		"type": "array", "minItems": 1, "items": map[string]any{"$ref": "#/$defs/point"},
		"$defs": map[string]any{"point": map[string]any{"type": "object", "required": []any{"x"}, "properties": map[string]any{"x": map[string]any{"type": "number"}}}},
	}
	c := newContract(t, spec)
	for name, tc := range map[string]struct {
		answer answers.Answer
		want   string
	}{
		"valid":       {answers.Answer{Text: ` [{"x": 1.5e300}, {"x": 2}]` + "\n"}, ""},
		"in a fence":  {answers.Answer{Text: "```json\n[]\n```"}, "the answer: invalid JSON"},
		"with a word": {answers.Answer{Text: `[{"x": 1}] Done.`}, "the answer: invalid JSON"},
		"nothing":     {answers.Answer{}, "the answer: invalid JSON"},
		"violated":    {answers.Answer{Text: `[{"x": "1"}]`}, "the answer: not valid by the schema: at '/0/x': got string, want number"},
		"cut":         {answers.Answer{Text: `[{"x": `, Cut: true}, ""},
		"a call":      {answers.Answer{Calls: []workload.ToolCall{call("a", "get_time", `{}`)}}, ""},
	} {
		t.Run(name, func(t *testing.T) { checkError(t, c.CheckText(tc.answer), tc.want) })
	}
}

func TestNothingAsked(t *testing.T) {
	c := newContract(t, workload.Spec{})
	a := answers.Answer{Text: "<tool_call>", Calls: []workload.ToolCall{call("", "x", "")}}
	if c.CheckCalls(a) != nil || c.CheckText(a) != nil {
		t.Error("a workload without tools and format refuses an answer")
	}
}

// TestSchemasThatAreRefused checks that an invalid schema is an error that names the place, and
// that no file is opened and nothing fetched.
func TestSchemasThatAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		schema map[string]any
		want   string
	}{
		"type":      {map[string]any{"type": "objekt"}, "/type"},
		"pattern":   {map[string]any{"pattern": "("}, "/pattern"},
		"reference": {map[string]any{"$ref": "#/$defs/none"}, "none"},
		"file":      {map[string]any{"$ref": "file:///etc/passwd"}, "outside of the schema"},
		"web":       {map[string]any{"$ref": "http://127.0.0.1:1/x"}, "outside of the schema"},
		"draft":     {map[string]any{"$schema": "http://127.0.0.1:1/draft"}, "outside of the schema"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := answers.Compile(tc.schema)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, tc.want)
			}
		})
	}
}

// FuzzContract checks that no answer causes a panic, and that a text is valid as arguments if and
// only if it is valid as an answer.
func FuzzContract(f *testing.F) {
	for _, seed := range []string{`{"city":"Oslo"}`, `{"city":`, `<tool_call>`, `{"city":"x","days":1e400}`, "\xff", strings.Repeat("[", 20000)} {
		f.Add(seed)
	}
	spec := weather("")
	spec.ResponseSchema = spec.Tools[0].Parameters
	c, err := answers.NewContract(spec)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		callErr := c.CheckCalls(answers.Answer{Calls: []workload.ToolCall{call("a", "get_weather", text)}})
		textErr := c.CheckText(answers.Answer{Text: text})
		if (callErr == nil) != (textErr == nil) {
			t.Errorf("as arguments %v, as an answer %v", callErr, textErr)
		}
		if err := c.CheckCalls(answers.Answer{Text: "x" + text + "[TOOL_CALLS]"}); err == nil {
			t.Error("markup was not found behind other text")
		}
	})
}
