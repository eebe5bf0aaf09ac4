package probe_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
)

// options returns the options of a probe of the router.
func (w *web) options(s target.Session) probe.Options {
	o := options(strings.TrimPrefix(w.URL, "http://"))
	o.Target.Session = s
	return o
}

// sent returns the values of a header in all requests.
func (w *web) sent(name string) (values []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		values = append(values, strings.Join(r.Header.Values(name), "|"))
	}
	return values
}

func TestSessionHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		session    target.Session
		configured string // X-Session-ID of the target's headers
		want       bool   // X-Session-ID has the id
	}{
		"default":      {session: target.DefaultSession(), want: true},
		"none":         {},
		"another":      {session: target.Session{Header: "X-Dynamo-Session-ID"}},
		"own priority": {session: target.DefaultSession(), configured: "fixed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWeb(t, func(int, http.Header) string { return answer })
			o := r.options(tt.session)
			if tt.configured != "" {
				o.Target.Headers = map[string]string{"x-session-id": tt.configured}
			}
			turn := once(t, o)
			if got := r.sent("X-Session-ID")[0]; got != tt.configured && got != turn.TraceID || (got == turn.TraceID) != tt.want {
				t.Errorf("X-Session-ID is %q", got)
			}
			if got := r.sent("X-Dynamo-Session-ID")[0]; got != "" && got != turn.TraceID {
				t.Errorf("X-Dynamo-Session-ID is %q", got)
			}
		})
	}
}

// TestSessionTokensStayInTheirConversation lets a router send a token with some answers. The next request
// has the latest one, and a new conversation none.
func TestSessionTokensStayInTheirConversation(t *testing.T) {
	tokens := []string{"token-a", "", "token-c", "token-d"}
	r := newWeb(t, func(n int, h http.Header) string {
		if tokens[n%4] != "" {
			h.Set("x-session-token", tokens[n%4])
		}
		return answer
	})
	o := r.options(target.Session{Echo: []string{"X-Session-Token"}})
	for range 2 {
		converse(t.Context(), t, o, 4)
	}
	if got, want := fmt.Sprint(r.sent("X-Session-Token")), "[ token-a token-a token-c  token-a token-a token-c]"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

// TestConfiguredHeaderIsNotEchoed lets a router answer with another value of a header that the target
// configures, and with another id.
func TestConfiguredHeaderIsNotEchoed(t *testing.T) {
	r := newWeb(t, func(_ int, h http.Header) string {
		h.Set("X-Session-Token", "from-router")
		h.Set("X-Session-Id", "from-router")
		return answer
	})
	o := r.options(target.Session{Header: "X-Session-Id", Echo: []string{"X-Session-Token", "X-Session-Id"}})
	o.Target.Headers = map[string]string{"x-session-token": "fixed"}
	converse(t.Context(), t, o, 2)
	if got := r.sent("X-Session-Token"); fmt.Sprint(got) != "[fixed fixed]" {
		t.Errorf("sent %s", got)
	}
	if got := r.sent("X-Session-Id"); len(got[0]) != 32 || got[1] != "from-router" {
		t.Errorf("the ids are %q", got)
	}
}

// TestSessionIsBounded lets a router send far too many and too long values.
func TestSessionIsBounded(t *testing.T) {
	r := newWeb(t, func(n int, h http.Header) string {
		h.Set("X-Session-Token", strings.Repeat("t", 1000<<n))
		return answer
	})
	converse(t.Context(), t, r.options(target.Session{Echo: []string{"X-Session-Token"}}), 5)
	for i, token := range r.sent("X-Session-Token") {
		if len(token) > 4<<10 || i > 0 && token == "" {
			t.Errorf("request %d has a token of %d bytes", i, len(token))
		}
	}
}

// TestMovedTurns checks which turns count as answered by another worker than the previous one.
func TestMovedTurns(t *testing.T) {
	for name, tt := range map[string]struct {
		header string
		worker string
		names  []string
		want   string
	}{
		"kept":               {"X-Inference-Pod", "", []string{"a", "a", "a"}, " kept kept"},
		"lost":               {"X-Inference-Pod", "", []string{"a", "b", "a"}, " lost lost"},
		"not always named":   {"X-Inference-Pod", "", []string{"a", "", "b"}, "  lost"},
		"never named":        {"X-Inference-Pod", "", []string{"", "", ""}, "  "},
		"a cache's header":   {"X-Served-By", "", []string{"a", "b", "a"}, "  "},
		"the router's":       {"X-Served-By", "X-Served-By", []string{"a", "b", "b"}, " lost kept"},
		"a gateway's server": {"X-Litellm-Model-Api-Base", "", []string{"http://a:1/v1", "http://b:1/v1", "http://b:1/v1"}, " lost kept"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWeb(t, func(n int, h http.Header) string {
				h.Set(tt.header, tt.names[n])
				return answer
			})
			o := r.options(target.Session{})
			o.Target.Session.Worker = tt.worker
			results, _ := converse(t.Context(), t, o, 3)
			var got []string
			for _, turn := range results {
				got = append(got, turn.Session)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestSessionTokenNeverComesBack lets a server repeat the token that it was sent, and the one that it
// sends, in its texts.
func TestSessionTokenNeverComesBack(t *testing.T) {
	tokens := []string{"dG9rZW46c2VjcmV0LTE=", "dG9rZW46c2VjcmV0LTI="}
	text := "you sent " + tokens[0] + " and get " + tokens[1]
	for name, says := range map[string]string{
		"error":         fmt.Sprintf("data: {\"error\":{\"message\":%q}}\n\n", text),
		"finish reason": fmt.Sprintf("%sdata: {\"choices\":[{\"delta\":{},\"finish_reason\":%q}]}\n\n", hello, text) + done,
	} {
		t.Run(name, func(t *testing.T) {
			r := newWeb(t, func(n int, h http.Header) string {
				h.Set("X-Session-Token", tokens[n])
				return []string{answer, says}[n]
			})
			results, _ := converse(t.Context(), t, r.options(target.Session{Echo: []string{"X-Session-Token"}}), 2)
			if len(results) != 2 {
				t.Fatalf("%d turns", len(results))
			}
			dump := fmt.Sprintf("%+v", results[1])
			if strings.Contains(dump, tokens[0]) || strings.Contains(dump, tokens[1]) || !strings.Contains(dump, "you sent") {
				t.Errorf("the result is %s", dump)
			}
		})
	}
}
