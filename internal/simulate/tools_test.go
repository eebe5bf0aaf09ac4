package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/sashabaranov/go-openai"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":7}},"required":["city","days"],"additionalProperties":false}`

// openAI returns a client of another project.
func (c client) openAI() *openai.Client {
	config := openai.DefaultConfig("")
	config.BaseURL, config.HTTPClient = c.url+"/v1", c.Client
	return openai.NewClientWithConfig(config)
}

// TestToolsByGoOpenAI holds a streamed conversation with a tool call, its result and an answer.
func TestToolsByGoOpenAI(t *testing.T) {
	_, c := serve(t, quick)
	request := openai.ChatCompletionRequest{
		Model:    "simulated-chat",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "hi"}},
		Tools:    []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "weather", Parameters: json.RawMessage(weather)}}},
	}
	answer := c.streamed(t, request)
	if len(answer.ToolCalls) != 1 || answer.ToolCalls[0].Function.Name != "weather" || answer.Content != "" {
		t.Fatalf("the answer %+v calls no tool", answer)
	}
	if err := conforms(weather, answer.ToolCalls[0].Function.Arguments); err != nil {
		t.Error(err)
	}
	request.Messages = append(request.Messages,
		openai.ChatCompletionMessage{Role: "assistant", ToolCalls: answer.ToolCalls},
		openai.ChatCompletionMessage{Role: "tool", ToolCallID: answer.ToolCalls[0].ID, Content: "sunny"})
	if answer := c.streamed(t, request); len(answer.ToolCalls) != 0 || answer.Content == "" {
		t.Errorf("answer to the result of the tool: %+v", answer)
	}
}

// streamed returns the message of a streamed answer.
func (c client) streamed(t *testing.T, request openai.ChatCompletionRequest) (m openai.ChatCompletionMessage) {
	t.Helper()
	stream, err := c.openAI().CreateChatCompletionStream(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return m
		}
		if err != nil {
			t.Fatal(err)
		}
		delta := chunk.Choices[0].Delta
		m.Content += delta.Content
		for _, call := range delta.ToolCalls {
			if call.ID != "" {
				m.ToolCalls = append(m.ToolCalls, call)
				continue
			}
			m.ToolCalls[len(m.ToolCalls)-1].Function.Arguments += call.Function.Arguments
		}
	}
}

// conforms returns an error if a text does not fit a schema.
func conforms(schema, text string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		return err
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		return err
	}
	return compiled.Validate(v)
}

// TestEveryAPICallsTools checks the name, the arguments and the finish reason.
func TestEveryAPICallsTools(t *testing.T) {
	_, c := serve(t, quick)
	nested := `,"tools":[{"type":"function","function":{"name":"weather","parameters":` + weather + `}}]`
	for name, test := range map[string]struct {
		more, finish string
		name         []any
		arguments    func([]streamEvent) string
	}{
		"messages": {`,"tools":[{"name":"weather","input_schema":` + weather + `}]`, "tool_use", []any{"content_block", "name"},
			joined("delta", "partial_json")},
		"responses": {`,"tools":[{"type":"function","name":"weather","parameters":` + weather + `}]`, "completed", []any{"item", "name"},
			joined("delta")},
		"azure": {nested, "tool_calls", []any{"choices", 0, "delta", "tool_calls", 0, "function", "name"},
			joined("choices", 0, "delta", "tool_calls", 0, "function", "arguments")},
	} {
		for _, d := range spokens() {
			if d.name != name {
				continue
			}
			_, events := c.ask(t, d.path, strings.Replace(d.body, "%s", test.more+d.stream, 1), d.header...)
			called := ""
			for _, e := range events {
				called += e.text(test.name...)
			}
			arguments := test.arguments(events)
			if !strings.HasPrefix(called, "weather") || d.read(events).finish != test.finish || conforms(weather, arguments) != nil {
				t.Errorf("%s: called %q with %s, finish %q", name, called, arguments, d.read(events).finish)
			}
		}
	}
}

// TestToolResultsAreAnswered checks that a text follows the result of a tool.
func TestToolResultsAreAnswered(t *testing.T) {
	_, c := serve(t, quick)
	for path, test := range map[string]struct {
		body string
		text func([]streamEvent) string
	}{
		"/v1/messages": {`"max_tokens":99,"tools":[{"name":"weather","input_schema":` + weather + `}],"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"weather","input":{"city":"x"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"sunny"}]}]}]`, joined("delta", "text")},
		"/v1/responses": {`"tools":[{"type":"function","name":"weather","parameters":` + weather + `}],"input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},
			{"type":"function_call","call_id":"1","name":"weather","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"sunny"}]`, joined("delta")},
	} {
		status, got := c.ask(t, path, `{"model":"simulated-chat","stream":true,`+test.body+`}`)
		if status != http.StatusOK || test.text(got) == "" {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
}

// joined returns a function that joins the values at a place of all events.
func joined(path ...any) func([]streamEvent) string {
	return func(events []streamEvent) string {
		all := ""
		for _, e := range events {
			if v := e.at(path...); v != nil {
				all += jsonText(v)
			}
		}
		return all
	}
}

// jsonText returns a string unchanged, and any other value as JSON.
func jsonText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return encode(v)
}

func TestAnswersFitTheirSchema(t *testing.T) {
	_, c := serve(t, quick)
	for _, schema := range []string{
		weather,
		`{"type":"array","items":{"type":"number","minimum":2,"maximum":3}}`,
		`{"type":"object","properties":{"a":{"enum":["x",7,null]},"c":{"type":"boolean"},"d":{"type":"null"},"o":{"properties":{"x":{"type":"string"}},"required":["x"]}},"required":["a","c","d","o"]}`,
	} {
		_, got := c.ask(t, "/v1/chat/completions", `{"model":"simulated-chat","stream":true,"messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":`+schema+`}}}`)
		if joined("choices", 0, "finish_reason")(got) != "stop" {
			t.Errorf("%s: %v", schema, got)
		}
		if err := conforms(schema, joined("choices", 0, "delta", "content")(got)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
	_, got := c.ask(t, "/v1/responses", `{"model":"simulated-chat","stream":true,"input":"hi","text":{"format":{"type":"json_schema","schema":`+weather+`}}}`)
	if err := conforms(weather, joined("delta")(got)); err != nil {
		t.Error(err)
	}
	if text := instance(json.RawMessage(`no schema`), rand.New(rand.NewPCG(1, 1))); text != "{}" {
		t.Errorf("instance of invalid JSON: %s", text)
	}
}

func TestReasoning(t *testing.T) {
	o := quick
	o.Answer.Median, o.Reasoning = 40, 0.5
	_, c := serve(t, o)
	for more, want := range map[string]int{
		``:                            20,
		`,"max_completion_tokens":12`: 12,
	} {
		got := c.say(t, []message{user("hi")}, more)
		if len(got.reasoning) != want*charsPerToken || (got.content == "") != (want == 12) {
			t.Errorf("%s: %d characters of reasoning, content %q; want %d tokens", more, len(got.reasoning), got.content, want)
		}
		if counted := strings.Contains(got.raw[len(got.raw)-2], `"reasoning_tokens"`); counted != (want > 0) {
			t.Errorf("%s: %s", more, got.raw[len(got.raw)-2])
		}
	}
}

func TestStrictHistories(t *testing.T) {
	_, c := serve(t, quick)
	for more, want := range map[string]string{
		`{"role":"assistant"}`:                       "Assistant message must contain either 'content' or 'tool_calls'!",
		`{"role":"assistant","reasoning":"because"}`: "Assistant message must contain either 'content' or 'tool_calls'!",
		`{"role":"assistant","content":""}`:          "",
		`{"role":"assistant","content":null}`:        "",
		`{"role":"user"}`:                            "All non-assistant messages must contain 'content'",
		`{"role":"tool","content":"sunny"}`:          "follows no message with 'tool_calls'",
	} {
		if !strings.Contains(more, "]") {
			more += "]"
		}
		status, got := c.ask(t, "/v1/chat/completions", `{"model":"simulated-chat","stream":true,"messages":[{"role":"user","content":"hi"},`+more+`}`)
		if message := got[0].text("error", "message"); !strings.Contains(message, want) || (status == http.StatusBadRequest) != (want != "") {
			t.Errorf("%s: %d %q, want %q", more, status, message, want)
		}
	}
	status, got := c.ask(t, "/v1/messages", `{"model":"simulated-chat","messages":[]}`)
	if status != http.StatusBadRequest || !strings.Contains(got[0].text("error", "message"), "max_tokens: Field required") {
		t.Errorf("without max_tokens: %d %v", status, got)
	}
}
