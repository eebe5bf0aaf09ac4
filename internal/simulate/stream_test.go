package simulate

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const question = `{"model":"simulated-chat","stream":true,"messages":[{"role":"user","content":"hi"}]`

func TestStreamOfATurn(t *testing.T) {
	_, c := serve(t, quick)
	got := c.say(t, []message{user("hi")}, "")
	if got.err != nil {
		t.Fatal(got.err)
	}
	if first := got.raw[0]; !strings.Contains(first, `"delta":{"role":"assistant","content":""}`) {
		t.Errorf("the first chunk does not consist of the role: %s", first)
	}
	n := len(got.raw)
	if got.raw[n-1] != "[DONE]" {
		t.Errorf("the last event is %q, not [DONE]", got.raw[n-1])
	}
	if !strings.Contains(got.raw[n-2], `"choices":[],"usage":{`) {
		t.Errorf("the chunk before [DONE] has no usage with empty choices: %s", got.raw[n-2])
	}
	if got.finish != "stop" {
		t.Errorf("finish reason %q, want stop", got.finish)
	}
	// "hi" is 1 token, its role and end are 4, and the role of the answer is 3.
	if got.usage.Prompt != 8 || got.usage.Completion != 8 || got.usage.Total != 16 {
		t.Errorf("usage %+v, want 8 + 8 = 16", *got.usage)
	}
	if want := 8 * charsPerToken; len(got.content) != want {
		t.Errorf("the answer %q has %d characters, want %d", got.content, len(got.content), want)
	}
}

func TestUsageOnlyOnRequest(t *testing.T) {
	_, c := serve(t, quick)
	for extra, want := range map[string]bool{
		`}`:                       false,
		`,"stream_options":{}}`:   false,
		`,"stream_options":null}`: false,
		`,"stream_options":{"include_usage":false}}`:                                      false,
		`,"stream_options":{"include_usage":true}}`:                                       true,
		`,"max_tokens":1,"stream_options":{"include_usage":true},"temperature":0,"x":[]}`: true,
	} {
		got := parse(t, c.post(t, t.Context(), question+extra).Body)
		if has := got.usage != nil; has != want {
			t.Errorf("%s: usage %v, want %v", extra, has, want)
		}
	}
}

func TestAnswerLength(t *testing.T) {
	for _, c := range []struct {
		name, extra string
		tokens      int
		finish      string
	}{
		{"no limit", ``, 8, "stop"},
		{"max_tokens below the length", `,"max_tokens":3`, 3, "length"},
		{"max_completion_tokens has priority", `,"max_tokens":3,"max_completion_tokens":5`, 5, "length"},
		{"max_tokens above the length", `,"max_tokens":100`, 8, "stop"},
		{"ignore_eos", `,"max_tokens":100,"ignore_eos":true`, 100, "length"},
		{"ignore_eos without a limit fills the context", `,"ignore_eos":true`, 192, "length"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := quick
			o.MaxModelLen = 200
			_, client := serve(t, o)
			got := client.say(t, []message{user("hi")}, c.extra)
			if got.usage.Completion != c.tokens || got.finish != c.finish {
				t.Errorf("%d tokens, finish %q; want %d, %q", got.usage.Completion, got.finish, c.tokens, c.finish)
			}
		})
	}
}

func TestTokensPerEvent(t *testing.T) {
	o := quick
	o.TokensPerEvent = 2.5
	_, c := serve(t, o)
	got := c.say(t, []message{user("hi")}, `,"max_tokens":1000,"ignore_eos":true`)
	// Role, finish, usage and [DONE] carry no tokens.
	events := len(got.raw) - 4
	if mean := 1000 / float64(events); mean < 2.3 || mean > 2.7 {
		t.Errorf("%.2f tokens per event, want about 2.5", mean)
	}
	if got.usage.Completion != 1000 {
		t.Errorf("%d tokens, want 1000", got.usage.Completion)
	}
}

func TestHeadersAndRoleComeBeforeTheFirstToken(t *testing.T) {
	o := quick
	o.FirstToken.Median = time.Hour
	d, c := serve(t, o)
	resp := c.post(t, t.Context(), question+`}`)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Errorf("status %s, header %v", resp.Status, resp.Header)
	}
	b := make([]byte, 4096)
	n, err := resp.Body.Read(b)
	if err != nil || !strings.Contains(string(b[:n]), `"role":"assistant"`) {
		t.Errorf("read %q, %v; want the role-only chunk", b[:n], err)
	}
	if got := d.Stats().Running; got != 1 {
		t.Errorf("%d running, want 1", got)
	}
}
