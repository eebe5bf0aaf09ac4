package probe_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// spoken is a test of one API: a handwritten transcript in testdata/apis, and the expected values
// of a turn that it answers.
type spoken struct {
	api    dialect.Name
	path   string
	key    string // the header that carries the key, and what stands before it
	answer string
	thinks bool
	finish string
	prompt int
	cached bool
}

func spokens() []spoken {
	const bearer, thinking = "Authorization: Bearer ", true
	return []spoken{
		{api: "chat", path: "/v1/chat/completions", key: bearer, answer: "It is so.", thinks: thinking, finish: "stop", prompt: 20, cached: true},
		{api: "completions", path: "/v1/completions", key: bearer, answer: " It is so.", finish: "length", prompt: 20},
		{api: "responses", path: "/v1/responses", key: bearer, answer: "It is so.", thinks: thinking, finish: "stop", prompt: 20, cached: true},
		{api: "messages", path: "/v1/messages", key: "X-Api-Key: ", answer: "It is so.", thinks: thinking, finish: "stop", prompt: 20, cached: true},
		{api: "azure", path: "/openai/deployments/m/chat/completions?api-version=2024-10-21", key: "Api-Key: ", answer: "It is so.", thinks: thinking, finish: "stop", prompt: 20, cached: true},
	}
}

// TestAPIs holds a conversation over every API.
func TestAPIs(t *testing.T) {
	for _, s := range spokens() {
		t.Run(string(s.api)+", key in "+s.key, func(t *testing.T) { s.check(t) })
	}
}

func (s spoken) check(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "apis", string(s.api)+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	web := newWeb(t, func(int, http.Header) string { return string(text) })
	results, sum := converse(t.Context(), t, s.options(t, web.URL), 2)
	web.Close() // waits for its handlers
	if len(results) != 2 || sum.Outcome != probe.Success {
		t.Fatalf("%d turns, %s: %q", len(results), sum.Outcome, results[len(results)-1].Err)
	}
	for _, r := range results {
		s.holds(t, r)
	}
	last := web.requests[1]
	if got := last.URL.String(); got != s.path {
		t.Errorf("asked at %s, want %s", got, s.path)
	}
	name, before, _ := strings.Cut(s.key, ": ")
	if got := last.Header.Get(name); got != before+"secret-key" {
		t.Errorf("the header %s is %q", name, got)
	}
	if s.api == "messages" && last.Header.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("headers %v", last.Header)
	}
	golden(t, string(s.api)+".request.json", web.bodies[1])
}

// options returns options for a target of the API, with a temperature and a token limit.
func (s spoken) options(t *testing.T, url string) probe.Options {
	o := options(strings.TrimPrefix(url, "http://"))
	o.Target.API, o.Target.BaseURL = s.api, url+dialect.Of(s.api).Root
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("secret-key"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Target.Key.File = file
	o.Workload.Temperature, o.Workload.MaxOutputTokens = new(float64), 50
	return o
}

func (s spoken) holds(t *testing.T, r probe.Result) {
	t.Helper()
	if r.Answer != s.answer || r.FinishReason != s.finish || (r.Reasoning == "Hm.") != s.thinks {
		t.Errorf("answer %q after %q, ended by %q", r.Answer, r.Reasoning, r.FinishReason)
	}
	if r.PromptTokens.V != s.prompt || r.CachedTokens.OK != s.cached || !r.OutputTokens.OK {
		t.Errorf("tokens: prompt %v, cached %v, output %v", r.PromptTokens, r.CachedTokens, r.OutputTokens)
	}
	if !r.TTFT.OK || !r.AnswerTTFT.OK || r.Duration() <= 0 {
		t.Errorf("TTFT %v, answer TTFT %v, duration %v", r.TTFT, r.AnswerTTFT, r.Duration())
	}
	if s.thinks && r.AnswerTTFT.V < r.TTFT.V {
		t.Errorf("the answer came %v after sending, before the reasoning at %v", r.AnswerTTFT.V, r.TTFT.V)
	}
}

// golden compares an indented body with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "apis", name)
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	b.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s: sent\n%s\nwant\n%s", name, b.Bytes(), want)
	}
}

// TestAPIErrors checks the outcomes of each API's errors.
func TestAPIErrors(t *testing.T) {
	for name, test := range map[string]struct {
		api     dialect.Name
		events  string
		outcome probe.Outcome
		says    string
	}{
		"messages, overloaded": {"messages", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", probe.ErrorEvent, "Overloaded"},
		"messages, refused":    {"messages", `data: {"type":"message_delta","delta":{"stop_reason":"refusal"}}` + "\n\ndata: {\"type\":\"message_stop\"}\n\n", probe.ContentFilter, "filter"},
		"messages, cut":        {"messages", `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}` + "\n\n", probe.Truncated, "finish reason"},
		"responses, failed":    {"responses", `data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}}` + "\n\n", probe.ErrorEvent, "boom"},
		"responses, an error":  {"responses", `data: {"type":"error","code":"x","message":"boom","param":null}` + "\n\n", probe.ErrorEvent, "boom"},
		"responses, filtered":  {"responses", `data: {"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}` + "\n\n", probe.ContentFilter, "filter"},
		"responses, cut":       {"responses", `data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n", probe.Truncated, "finish reason"},
	} {
		t.Run(name, func(t *testing.T) {
			web := newWeb(t, func(int, http.Header) string { return test.events })
			r := once(t, spoken{api: test.api}.options(t, web.URL))
			if r.Outcome != test.outcome || !strings.Contains(r.Err, test.says) {
				t.Errorf("got %s %q, want %s %q", r.Outcome, r.Err, test.outcome, test.says)
			}
		})
	}
}
