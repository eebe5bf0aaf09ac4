package probe_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

// comparisons is a Sink that records comparisons.
type comparisons struct {
	recorder
	mu  sync.Mutex
	all []probe.Comparison
}

func (c *comparisons) Observe(e probe.Event) {
	c.recorder.Observe(e)
	if comparison, ok := e.(probe.Comparison); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = append(c.all, comparison)
	}
}

// wholeText returns an answer without streaming.
func wholeText(s string) string {
	return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":5}}`, quoted(s))
}

// wholeCall returns an answer without streaming that calls a tool.
func wholeCall(name, arguments, finish string) string {
	return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":%q,"arguments":%s}}]},"finish_reason":%q}]}`, name, quoted(arguments), finish)
}

// TestCompareStreamed checks the verdict of each kind of comparison.
func TestCompareStreamed(t *testing.T) {
	rain := []string{text("It "), text("rains."), ended("stop")}
	oslo := []string{begin(0, "a", "get_weather", ""), more(0, `{"city":"Oslo"}`), ended("tool_calls")}
	for name, tc := range map[string]struct {
		streamed []string
		whole    []string // answers to the requests without streaming, in order
		want     probe.Comparison
	}{
		"same":                {rain, []string{wholeText("It rains.\n")}, probe.Comparison{Verdict: probe.Same, Tokens: 25}},
		"a piece is lost":     {rain, []string{wholeText("It rains again."), wholeText("It rains again.")}, probe.Comparison{Verdict: probe.Different, Text: "text", Tokens: 50}},
		"never twice alike":   {rain, []string{wholeText("It pours."), wholeText("It snows.")}, probe.Comparison{Verdict: probe.Unsteady, Text: "text", Tokens: 50}},
		"refused":             {rain, []string{`{"error":{"message":"streams only"}}`}, probe.Comparison{Verdict: probe.NoVerdict, Text: "HTTP 400: streams only"}},
		"no choices":          {rain, []string{`{}`}, probe.Comparison{Verdict: probe.NoVerdict, Text: "the answer has no choices"}},
		"same call":           {oslo, []string{wholeCall("get_weather", `{"city": "Oslo"}`, "tool_calls")}, probe.Comparison{Verdict: probe.Same}},
		"another call":        {oslo, []string{wholeCall("get_weather", `{"city": "Bergen"}`, "tool_calls"), wholeCall("get_weather", `{"city": "Bergen"}`, "tool_calls")}, probe.Comparison{Verdict: probe.Different, Text: "tool calls"}},
		"another finish":      {oslo, []string{wholeCall("get_weather", `{"city": "Oslo"}`, "stop"), wholeCall("get_weather", `{"city": "Oslo"}`, "stop")}, probe.Comparison{Verdict: probe.Different, Text: "finish reason"}},
		"only whole it calls": {rain, []string{wholeCall("get_time", `{}`, "tool_calls"), wholeCall("get_time", `{}`, "tool_calls")}, probe.Comparison{Verdict: probe.Different, Text: "text, tool calls, finish reason"}},
	} {
		t.Run(name, func(t *testing.T) {
			left := tc.whole
			s := serve(t, func(_ int, a request) []string {
				if a.Stream || len(left) == 0 {
					return tc.streamed
				}
				next := left[0]
				left = left[1:]
				return []string{next}
			})
			o := toolOptions(s.addr)
			o.Workload.Compare = 1
			p, err := probe.New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			sink := &comparisons{}
			stop := make(chan struct{})
			pl := plan(1)
			pl.Stop = stop
			p.Converse(t.Context(), pl, &untilCompared{sink, stop})
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(sink.all) != 1 || len(left) != 0 || sink.results[0].Outcome != probe.Success {
				t.Fatalf("%d comparisons, %d answers were not asked for, %+v", len(sink.all), len(left), sink.results)
			}
			tc.want.Target, tc.want.Workload, tc.want.TraceID = "t", "w", sink.results[0].TraceID
			if diff := cmp.Diff(tc.want, sink.all[0]); diff != "" {
				t.Errorf("comparison (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCutAnswersAreNotCompared sends answers that the token limit ends.
func TestCutAnswersAreNotCompared(t *testing.T) {
	s := serve(t, func(int, request) []string { return []string{text("It rai"), ended("length")} })
	o := toolOptions(s.addr)
	o.Workload.Compare = 1
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sink := &comparisons{}
	p.Converse(t.Context(), plan(3), sink)
	if len(sink.all) != 0 || len(sink.results) != 3 || sink.results[0].Outcome != probe.Success {
		t.Errorf("%d comparisons of %+v", len(sink.all), sink.results)
	}
}

// untilCompared stops the conversation with its first comparison.
type untilCompared struct {
	*comparisons
	stop chan struct{}
}

func (u *untilCompared) Observe(e probe.Event) {
	u.comparisons.Observe(e)
	if _, ok := e.(probe.Comparison); ok {
		close(u.stop)
	}
}

// TestComparisonsMakeNobodyLate checks that the next turn is due after the comparison, which sends
// the same history.
func TestComparisonsMakeNobodyLate(t *testing.T) {
	var compared time.Time
	s := serve(t, func(n int, a request) []string {
		if a.Stream {
			return []string{text("Yes."), ended("stop")}
		}
		if n == 2 {
			compared = time.Now()
		}
		return []string{wholeText("Yes.")}
	})
	o := options(s.addr)
	o.Workload.Compare = 1
	results, sum := converse(t.Context(), t, o, 2)
	requests := s.requests()
	if len(results) != 2 || sum.Outcome != probe.Success || len(requests) != 4 {
		t.Fatalf("%d turns and %d requests, %+v", len(results), len(requests), sum)
	}
	if due := results[1].Scheduled; due.Before(compared) {
		t.Errorf("the second turn was due %v before the first was compared", compared.Sub(due))
	}
	for n := 0; n < 4; n += 2 {
		a, b := requests[n], requests[n+1]
		if a.Stream = !a.Stream; !cmp.Equal(a, b) {
			t.Errorf("asked for %+v, and to compare for %+v", a, b)
		}
	}
}

// TestComparisonIsPartOfTheSession lets the answer without streaming replace the session's token and cookie,
// and repeat the old and the new ones in its error.
func TestComparisonIsPartOfTheSession(t *testing.T) {
	values := []string{"dG9rZW46c2VjcmV0LTM", "dG9rZW46c2VjcmV0LTQ", "dG9rZW46c2VjcmV0LTU"}
	var mu sync.Mutex
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n := len(sent)
		sent = append(sent, req.Header.Get("X-Session-Token")+" "+req.Header.Get("Cookie"))
		if n < len(values) {
			w.Header().Set("X-Session-Token", values[n])
			w.Header().Set("Set-Cookie", "route="+values[n])
		}
		if n%2 == 1 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":"you sent %s and get %s"}}`, values[0], values[1])
			return
		}
		_, _ = io.WriteString(w, hello+finish+done)
	}))
	defer server.Close()
	o := options(strings.TrimPrefix(server.URL, "http://"))
	o.Target.Session = target.Session{Echo: []string{"X-Session-Token"}, Cookies: true}
	o.Workload.Compare = 1
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sink := &comparisons{}
	p.Converse(t.Context(), plan(2), sink)
	mu.Lock()
	defer mu.Unlock()
	if want := values[1] + " route=" + values[1]; len(sent) < 3 || sent[2] != want {
		t.Errorf("the requests have %q, the third should have %q", sent, want)
	}
	if want := "HTTP 400: you sent " + redact.Mark + " and get " + redact.Mark; len(sink.all) == 0 || sink.all[0].Text != want {
		t.Errorf("comparisons %+v, want %q", sink.all, want)
	}
}
