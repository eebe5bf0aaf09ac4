package sidecar

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/config"
	"synthetic/internal/probe/answers"
)

// TestCanaryAsksTheRecordedModel: the canary names the recorded model in its requests, whatever model
// the target lists first now. A target that is configured with another model is not compared.
func TestCanaryAsksTheRecordedModel(t *testing.T) {
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- r.URL.Path + string(body)
		fmt.Fprint(w, `{"choices": [{"message": {"content": "yes"}}], "data": [{"id": "newer"}]}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	rounds := make([]answers.Round, answers.LeastRounds)
	for i := range rounds {
		rounds[i] = answers.Round{{Text: "yes"}}
	}
	ref, err := answers.NewReference([]string{"Well?"}, rounds)
	if err != nil {
		t.Fatal(err)
	}
	ref.Tokens, ref.Model = 4, "recorded"
	data, err := ref.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "chat.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for setting, compared := range map[string]int{"": 1, ", model: recorded": 1, ", model: newer": 0} {
		cfg, err := config.Parse("x.yml", fmt.Appendf(nil, "targets: [{name: chat, base_url: %q%s}]\nanswers: {canary: {directory: %q}}", server.URL, setting, dir), "")
		if err != nil {
			t.Fatal(err)
		}
		c := newCanaries(nil, s.logger, s.recorder)
		if c.apply(cfg); len(c.active) != compared {
			t.Fatalf("%q: %d targets are compared, want %d", setting, len(c.active), compared)
		}
		for _, w := range c.active {
			c.round(t.Context(), w)
			if got := <-asked; !strings.Contains(got, `/chat/completions{`) || !strings.Contains(got, `"model":"recorded"`) {
				t.Errorf("%q: asked %s", setting, got)
			}
		}
	}
}
