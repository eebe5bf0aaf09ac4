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
			answer = foreign + strings.Repeat(" rain", 20_000) + " your key is " + key
		}
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Request-Id", "req-1")
		h.Set("X-Debug", "you sent "+r.Header.Get("Authorization"))
		h.Set("X-Api-Key", "another")
		h.Set("X-Session-Token", token)
		h.Set("X-Copy", token)
		h.Set("Set-Cookie", "route="+cookie)
		fmt.Fprintf(w, "data: {\"id\":\"chatcmpl-7\",\"choices\":[{\"delta\":{\"content\":%q}}]}\n\ndata: {\"id\":\"chatcmpl-7\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", answer)
	}))
	t.Cleanup(server.Close)
	o := options(strings.TrimPrefix(server.URL, "http://"))
	o.Target.BaseURL = server.URL + target.Chat.DefaultPath()
	o.Target.Key = target.Credential{File: filepath.Join(t.TempDir(), "key")}
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
		for _, secret := range []string{key, token, cookie, "another"} {
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
