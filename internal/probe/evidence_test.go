package probe_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/target"
)

// wrongAnswers is a Sink that keeps wrong answers.
type wrongAnswers struct {
	mu  sync.Mutex
	all []probe.WrongAnswer
}

func (w *wrongAnswers) Observe(e probe.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wrong, isWrong := e.(probe.WrongAnswer); isWrong {
		w.all = append(w.all, wrong)
	}
}

// foreignHeaders are names of headers whose values may be the secrets of another user.
var foreignHeaders = []string{
	"X-Api-Key", "X-Apikey", "X-Jwt-Assertion", "Sessionid", "X-Auth_token", "X-Credentials", "X-Passwd", "X-Amzn-Oidc-Data",
	"Openai-Organization", "X-Debug", "Location",
}

// acrossTheCuts returns a text that starts with first and ends with rest. If it is shortened to its first and last 32 kB, each cut
// goes through the middle of a token.
func acrossTheCuts(first, token, rest string) string {
	const cut = 32 << 10
	text := first + " " + rest
	at := []int{cut - len(token)/2, len(text) - cut - len(token)/2}
	for _, i := range at {
		text = text[:i] + token + text[i+len(token):]
	}
	return text
}

// TestEvidence: foreign answers of turns and of twins are reported with ids, times and headers, and without the secrets that
// the server repeats. Without the option none is reported.
func TestEvidence(t *testing.T) {
	const key, token, cookie = "sk-very-secret-0123456789", "echoed-token-4711", "cookie-value-4711"
	foreign := string(recall.New(rand.New(rand.NewPCG(3, 1))))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		answer := "I say no code."
		if bytes.Contains(body, []byte(`"role":"assistant"`)) {
			answer = acrossTheCuts(foreign, token, strings.Repeat(" rain", 20_000)+" your key is "+key)
		}
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Request-Id", "req-1")
		h.Set("X-Correlation-Id", "you sent "+r.Header.Get("Authorization"))
		h.Set("X-Session-Token", token)
		h.Set("X-Trace-Id", strings.Repeat("x", 250)+token) // 256 bytes are kept
		h.Set("Set-Cookie", "route="+cookie)
		h.Set("X-Litellm-Model-Id", "backend-1")
		h.Set("X-Inference-Pod", "pod-1")
		for _, name := range foreignHeaders {
			h.Set(name, "another")
		}
		fmt.Fprintf(w, "data: {\"id\":\"chatcmpl-7\",\"model\":\"other\",\"system_fingerprint\":\"fp-1\",\"choices\":[{\"delta\":{\"content\":%q}}]}\n\ndata: {\"id\":\"chatcmpl-7\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", answer)
	}))
	t.Cleanup(server.Close)
	o := options(strings.TrimPrefix(server.URL, "http://"))
	o.Target.BaseURL = server.URL + target.Chat.DefaultPath()
	o.Target.Key = target.Credential{File: filepath.Join(t.TempDir(), "key")}
	o.Target.Worker = &target.Worker{}
	o.Target.Session.Echo, o.Target.Session.Cookies = []string{"x-session-token"}, true
	if err := os.WriteFile(o.Target.Key.File, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := &wrongAnswers{}
	for _, o.Evidence = range []bool{false, true} {
		converseWithTwins(t, o, probe.Plan{TwinShare: func() float64 { return 1 }}, sink)
	}
	kinds := map[string]int{}
	for _, w := range sink.all {
		kinds[fmt.Sprintf("%s %t", w.Recall.Result, w.IsTwin)]++
		if !strings.HasPrefix(w.Answer, foreign) {
			t.Errorf("turn %d: %.200q", w.Turn, w.Answer)
		}
		if w.RequestID != "chatcmpl-7" || w.Header.Get("X-Request-Id") != "req-1" || w.TraceID == "" || w.SpanID == "" || w.Sent.IsZero() || w.End.Before(w.Sent) || w.Target != o.Target.Name {
			t.Errorf("%+v", w.Header)
		}
		if w.Worker != "pod-1" || w.Fingerprint != "fp-1" || w.Gateway.Backend != "backend-1" || w.AnsweredBy != "other" {
			t.Errorf("twin %t: answered by %q, %q, %q, %q", w.IsTwin, w.Worker, w.Fingerprint, w.Gateway.Backend, w.AnsweredBy)
		}
		isForeign := w.Recall.Result == recall.Foreign
		if isForeign && !slices.Equal(w.Found, []recall.Code{recall.Code(foreign)}) || !isForeign && len(w.Found) > 0 || len(recall.Find(string(w.Asked))) != 1 {
			t.Errorf("%s: asked for %q, found %q", w.Recall.Result, w.Asked, w.Found)
		}
		for _, secret := range []string{key, token, token[:6], token[8:], cookie, "another"} {
			if text := fmt.Sprintf("%+v", w); strings.Contains(text, secret) {
				t.Errorf("%q is in %.500s ... %s", secret, text, w.Header)
			}
		}
		if w.AnswerBytes < 100_000 || len(w.Answer) > 66<<10 {
			t.Errorf("%d of %d bytes", len(w.Answer), w.AnswerBytes)
		}
	}
	// The second turn brings the foreign code into the conversation, where it counts once. It gets no twin.
	if want := map[string]int{"foreign false": 1, "wrong false": 2, "wrong true": 2}; !maps.Equal(kinds, want) {
		t.Errorf("%v", kinds)
	}
}

// TestTheSameHeadersAreKept: of more than 64 values, the first by name are kept, whatever the order of a map.
func TestTheSameHeadersAreKept(t *testing.T) {
	h := http.Header{}
	for i := range 100 {
		h.Set(fmt.Sprintf("X-%02d-Request-Id", i), "id")
	}
	for range 5 {
		shown := probe.ShownHeaders(h)
		if len(shown) != 64 || shown.Get("X-00-Request-Id") == "" || shown.Get("X-63-Request-Id") == "" {
			t.Fatalf("%d: %v", len(shown), slices.Sorted(maps.Keys(shown)))
		}
	}
}

// TestFoundIsBounded: a long answer with many codes of other conversations.
func TestFoundIsBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	var codes []recall.Code
	for range 40 {
		c := recall.New(rng)
		codes = append(codes, c, c)
	}
	if found := probe.NewCodes("", codes).Found; len(found) != 16 || found[0] != codes[0] || found[1] != codes[2] {
		t.Errorf("%d codes: %q", len(found), found)
	}
}
