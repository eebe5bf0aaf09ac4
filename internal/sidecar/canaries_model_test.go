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

// TestCanaryAsksTheRecordedModel, whatever a target lists first now; a target that
// has another one is not compared with it, which the log says.
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
	for more, compared := range map[string]int{"": 1, ", model: recorded": 1, ", model: newer": 0} {
		cfg, err := config.Parse("x.yml", fmt.Appendf(nil, "targets: [{name: chat, base_url: %q%s}]\nanswers: {canary: {directory: %q}}", server.URL, more, dir), "")
		if err != nil {
			t.Fatal(err)
		}
		c := newCanaries(s)
		if c.apply(cfg); len(c.wanted) != compared {
			t.Fatalf("%q: %d targets are compared, want %d", more, len(c.wanted), compared)
		}
		for _, w := range c.wanted {
			c.round(t.Context(), w)
			if got := <-asked; !strings.Contains(got, `/chat/completions{`) || !strings.Contains(got, `"model":"recorded"`) {
				t.Errorf("%q: asked %s", more, got)
			}
		}
	}
}
