package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// delta0 returns a chunk whose choice has the given delta.
func delta0(delta string) string {
	return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}],"usage":null}`
}

func TestClassify(t *testing.T) {
	for name, test := range map[string]struct {
		data string
		want seen
	}{
		"done":                     {" [DONE] ", seen{Kind: Done}},
		"role only":                {delta0(`{"role":"assistant","content":""}`), seen{}},
		"role with null content":   {delta0(`{"role":"assistant","content":null}`), seen{}},
		"empty delta":              {delta0(`{}`), seen{}},
		"null delta":               {delta0(`null`), seen{}},
		"role and content":         {delta0(`{"role":"assistant","content":"a"}`), seen{Kind: Token, Content: "a"}},
		"reasoning_content":        {delta0(`{"reasoning_content":"a","content":null}`), seen{Kind: Token, Reasoning: "a"}},
		"reasoning":                {delta0(`{"reasoning":"a"}`), seen{Kind: Token, Reasoning: "a"}},
		"both kinds of reasoning":  {delta0(`{"reasoning":"a","reasoning_content":"a"}`), seen{Kind: Token, Reasoning: "a"}},
		"refusal":                  {delta0(`{"refusal":"no"}`), seen{Kind: Token}},
		"tool call":                {delta0(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}`), seen{Kind: Token, Tool: true}},
		"tool call arguments":      {delta0(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}`), seen{Kind: Token, Tool: true}},
		"empty tool call":          {delta0(`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`), seen{}},
		"no tool calls":            {delta0(`{"content":"a","tool_calls":[]}`), seen{Kind: Token, Content: "a"}},
		"null tool calls":          {delta0(`{"tool_calls":null,"function_call":null}`), seen{}},
		"function call":            {delta0(`{"function_call":{"name":"f","arguments":""}}`), seen{Kind: Token, Tool: true}},
		"content of parts":         {delta0(`{"content":[{"type":"text","text":"a"}]}`), seen{Kind: Token, Content: "a"}},
		"content of several parts": {delta0(`{"content":["\u00e9",{"type":"thinking","thinking":[{"type":"text","text":"h"},{"text":"\n"}]},{"type":"text","text":"b"},{"type":"refusal","refusal":"no"},7]}`), seen{Kind: Token, Content: "éb", Reasoning: "h\n"}},
		"reasoning_details":        {delta0(`{"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.summary","summary":"b"},{"type":"reasoning.encrypted","data":"x"}]}`), seen{Kind: Token, Reasoning: "ab"}},
		"details beside reasoning": {delta0(`{"reasoning":"a","reasoning_details":[{"text":"a"}]}`), seen{Kind: Token, Reasoning: "a"}},
		"an audio transcript":      {delta0(`{"audio":{"id":"x","transcript":"a"}}`), seen{Kind: Token, Content: "a"}},
		"parts that nest":          {delta0(`{"reasoning":` + strings.Repeat("[", 50) + `"a"` + strings.Repeat("]", 50) + `}`), seen{}},
		"escapes":                  {delta0(`{"content":"\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00"}`), seen{Kind: Token, Content: "\"\\/\b\f\n\r\té€😀"}},
		"half a surrogate pair":    {delta0(`{"content":"\ud83d!\ude00\ud83d\u0041\ud83d"}`), seen{Kind: Token, Content: "\uFFFD!\uFFFD\uFFFDA\uFFFD"}},
		"escaped names":            {`{"ch\u006fices":[{"d\u0065lta":{"cont\u0065nt":"a"}}]}`, seen{Kind: Token, Content: "a"}},
		"finish":                   {`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, seen{Finish: "stop"}},
		"finish with content":      {`{"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}`, seen{Kind: Token, Content: "a", Finish: "length"}},
		"unknown finish":           {`{"choices":[{"delta":{},"finish_reason":"tired"}]}`, seen{Finish: "tired"}},
		"failed finish":            {`{"choices":[{"delta":{},"finish_reason":"network-ERROR"}]}`, seen{Finish: Aborted, Message: "network-ERROR"}},
		"the word null":            {`{"choices":[{"delta":{"content":"a"},"finish_reason":"null"}]}`, seen{Kind: Token, Content: "a"}},
		"error in a choice":        {`{"choices":[{"delta":{"content":"a"},"error":{"message":"boom"}}]}`, seen{Kind: Error, Content: "a", Message: "boom"}},
		"list of errors":           {`{"errors":[{"code":1},{"message":"boom"}]}`, seen{Kind: Error, Message: "boom"}},
		"error of a list":          {`{"error":[{"msg":"boom"}]}`, seen{Kind: Error, Message: "boom"}},
		"error in an error":        {`{"error":{"code":1,"error":{"message":"boom"}}}`, seen{Kind: Error, Message: "boom"}},
		"no errors":                {`{"errors":[]}`, seen{}},
		"a list that fails":        {`[{"error":{"message":"boom"}}]`, seen{Kind: Error, Message: "boom"}},
		"second choice":            {`{"choices":[{"delta":{}},{"delta":{"content":"b"}}]}`, seen{}},
		"no choices":               {`{"choices":[]}`, seen{}},
		"null choices":             {`{"choices":null}`, seen{}},
		"odd choices":              {`{"choices":[7,{"delta":{"content":"b"}}]}`, seen{}},
		"nothing":                  {`{}`, seen{}},
		"white space":              {" {\r\n\t\"choices\" : [ { \"delta\" : { \"content\" : \"a\" } } ] } ", seen{Kind: Token, Content: "a"}},
		"usage": {
			`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":2}}}`,
			seen{Usage: Usage{PromptTokens: 10, OutputTokens: 5, CachedTokens: 8, CachedKnown: true, ReasoningTokens: 2, ReasoningKnown: true}},
		},
		"usage without details": {
			`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null}}`,
			seen{Usage: Usage{PromptTokens: 10, OutputTokens: 5}},
		},
		"usage with null cached tokens": {
			`{"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":null}}}`,
			seen{Usage: Usage{PromptTokens: 10, OutputTokens: 5}},
		},
		"continuous usage": {
			`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`,
			seen{Kind: Token, Content: "a", Usage: Usage{PromptTokens: 10, OutputTokens: 1}},
		},
		"timings beside usage": {
			`{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens":9},"timings":{"prompt_ms":1.5e1,"cache_n":-0}}`,
			seen{Usage: Usage{PromptTokens: 9, OutputTokens: 4}},
		},
		"usage in floats":    {`{"usage":{"prompt_tokens":1e1,"completion_tokens":5.0}}`, seen{Usage: Usage{PromptTokens: 10, OutputTokens: 5}}},
		"usage of nonsense":  {`{"usage":{"prompt_tokens":"x","completion_tokens":-1}}`, seen{}},
		"error object":       {`{"error":{"type":"x","message":"out of m\u0065mory","code":500}}`, seen{Kind: Error, Message: "out of memory"}},
		"error string":       {`{"error":"boom"}`, seen{Kind: Error, Message: "boom"}},
		"error beside text":  {`{"choices":[{"delta":{"content":"a"}}],"error":"boom"}`, seen{Kind: Error, Content: "a", Message: "boom"}},
		"error of no words":  {`{"error":{"code":500}}`, seen{Kind: Error, Message: `{"error":{"code":500}}`}},
		"error number":       {`{"error":500}`, seen{Kind: Error, Message: `{"error":500}`}},
		"null error":         {`{"error":null,"choices":[{"delta":{"content":"a"}}]}`, seen{Kind: Token, Content: "a"}},
		"false error":        {`{"error":false}`, seen{}},
		"empty error":        {`{"error":""}`, seen{}},
		"empty error object": {`{"choices":[{"delta":{"content":"a"}}],"error":{}}`, seen{Kind: Token, Content: "a"}},
		"empty error list":   {`{"error":[ ],"choices":[{"delta":{"content":"a"}}]}`, seen{Kind: Token, Content: "a"}},
		"object error":       {`{"object":"error","message":"boom","code":400}`, seen{Kind: Error, Message: "boom"}},
		"repeated names":     {`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"choices":[{"delta":{"content":"b","content":"c"}}]}`, seen{Kind: Token, Content: "c"}},
		"trailing text":      {`{} x`, seen{Kind: Malformed, Message: `{} x`}},
		"trailing comma":     {`{"a":1,}`, seen{Kind: Malformed, Message: `{"a":1,}`}},
		"a string cut":       {`{"a":"b`, seen{Kind: Malformed, Message: `{"a":"b`}},
		"a bad escape":       {`{"a":"\x"}`, seen{Kind: Malformed, Message: `{"a":"\x"}`}},
		"a bad \\u":          {`{"a":"\u12g4"}`, seen{Kind: Malformed, Message: `{"a":"\u12g4"}`}},
		"a control byte":     {"{\"a\":\"\x01\"}", seen{Kind: Malformed, Message: "{\"a\":\"\x01\"}"}},
		"a leading zero":     {`{"a":01}`, seen{Kind: Malformed, Message: `{"a":01}`}},
		"a bare point":       {`{"a":1.}`, seen{Kind: Malformed, Message: `{"a":1.}`}},
		"a bad literal":      {`{"a":nul}`, seen{Kind: Malformed, Message: `{"a":nul}`}},
		"no colon":           {`{"a" 1}`, seen{Kind: Malformed, Message: `{"a" 1}`}},
		"wrong bracket":      {`{"a":[}]`, seen{Kind: Malformed, Message: `{"a":[}]`}},
		"deep nesting":       {`{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"error":"x"}`, seen{Kind: Error, Message: "x"}},
		"a long bad message": {strings.Repeat("é", 400), seen{Kind: Malformed, Message: strings.Repeat("é", 256)}},
	} {
		t.Run(name, func(t *testing.T) {
			var ev Event
			classify(&ev, []byte(test.data), false, newChat())
			got := seen{Kind: ev.Kind, Content: string(ev.Content), Reasoning: string(ev.Reasoning), Tool: ev.ToolCalls != nil, Finish: ev.FinishReason, Message: ev.Message}
			if ev.HasUsage {
				got.Usage = ev.Usage
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTooDeep(t *testing.T) {
	var ev Event
	classify(&ev, []byte(`{"a":`+strings.Repeat("[", 1<<20)), false, newChat())
	if ev.Kind != Malformed || len(ev.Message) > maxMessage {
		t.Errorf("got kind %v and a message of %d bytes", ev.Kind, len(ev.Message))
	}
}

// TestPrefix checks that a repeated prefix of chunks does not change the result.
func TestPrefix(t *testing.T) {
	var d chatDecoder
	chunk := func(id, content string) []byte {
		return fmt.Appendf(nil, `{"id":%q,"choices":[{"delta":{"content":%q}}],"error":null}`, id, content)
	}
	for i, test := range []struct {
		data []byte
		want string
	}{
		{chunk("x", "a"), "a"},
		{chunk("x", "b"), "b"},
		{chunk("y", "c"), "c"},
		{[]byte(`{"choices":[]}`), ""},
		{chunk("y", "d"), "d"},
		{[]byte(`{"error":"e","choices":[{"delta":{"content":"f"}}]}`), "f"},
		{[]byte(`{"error":"e","choices":[{"delta":{"content":"g"}}]}`), "g"},
	} {
		var ev Event
		classify(&ev, test.data, false, &d)
		if string(ev.Content) != test.want {
			t.Errorf("chunk %d: content %q, want %q", i, ev.Content, test.want)
		}
		if failed := i >= 5; failed != (ev.Kind == Error) {
			t.Errorf("chunk %d: kind %v", i, ev.Kind)
		}
	}
	long := []byte(`{"x":"` + strings.Repeat("x", maxPrefix) + `","choices":[]}`)
	classify(&Event{}, long, false, &d)
	if len(d.prefix) > maxPrefix {
		t.Errorf("a prefix of %d bytes is kept", len(d.prefix))
	}
}

func TestErrorMessage(t *testing.T) {
	for body, want := range map[string]string{
		"":                                        "",
		"\n{\"error\":{\"message\":\"a\"}}\n":     "a",
		`{"error":"b","message":"c"}`:             "b",
		`{"object":"error","message":"c"}`:        "c",
		`{"error":{"code":7}}`:                    `{"error":{"code":7}}`,
		`{"error":null,"message":"c"}`:            "c",
		`{"message":"c","code":529}`:              "c",
		`{"detail":"d"}`:                          "d",
		`{"detail":[{"loc":["body"]}]}`:           `{"detail":[{"loc":["body"]}]}`,
		`{"detail":[{"loc":["body"],"msg":"m"}]}`: "m",
		`[{"error":{"message":"g"}}]`:             "g",
		"<html>\xff502":                           "an HTML page: <html>502",
		// A page in Latin-1: lower case of such bytes is longer in UTF-8.
		"<html><!-- " + strings.Repeat("\xe9", 1700) + " --><title>502 Bad\n Gateway</title>": `an HTML page with the title "502 Bad Gateway"`,
		"x" + strings.Repeat("€", maxMessage):                                                 "x" + strings.Repeat("€", (maxMessage-1)/3),
	} {
		if got := ErrorMessage([]byte(body)); got != want {
			t.Errorf("ErrorMessage(%.40q) = %.40q, want %.40q", body, got, want)
		}
	}
}
