package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFootprintIsSaid: check prints the expected tokens, and every request has a header with its target and workload.
func TestFootprintIsSaid(t *testing.T) {
	type seen struct{ path, agent, probe string }
	requests := make(chan seen, 100)
	d, _ := fastDeployment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case requests <- seen{r.URL.Path, r.UserAgent(), r.Header.Get("X-Synthetic-Probe")}:
		default:
		}
		d.ServeHTTP(w, r)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	text := fmt.Sprintf("targets:\n  - {name: a, base_url: %q}\n  - {name: b, base_url: %q}\n", server.URL, server.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	var out, log strings.Builder
	if code := run(context.Background(), []string{"check", file}, &out, &log); code != 0 {
		t.Fatalf("code %d: %s", code, log.String())
	}
	for _, want := range []string{
		"workload chat to target a: 9.1 M prompt and 1.46 M output tokens a day, at most 7.16 M of the prompts cached; bursts at the first sign of a fault add at most 6.14 M prompt and 985 k output tokens\n",
		"workload chat to target b: 9.1 M prompt and 1.46 M output tokens a day, at most 7.16 M of the prompts cached; bursts at the first sign of a fault add at most 6.14 M prompt and 985 k output tokens\n",
		"in all: 18.2 M prompt and 2.92 M output tokens a day, at most 14.3 M of the prompts cached\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}

	p := sidecarRun(t, file)
	p.until("turn to each target", func(s map[string]float64) bool {
		a, _ := sum(s, "synthetic_turns_total", `target="a"`)
		b, _ := sum(s, "synthetic_turns_total", `target="b"`)
		return a > 0 && b > 0
	})
	p.end()
	server.Close() // waits for the handlers
	close(requests)
	headers := map[string]bool{}
	for r := range requests {
		if !strings.HasPrefix(r.agent, "synthetic/") || r.agent == "synthetic/" {
			t.Errorf("%s was asked for by %q", r.path, r.agent)
		}
		headers[r.probe] = true
	}
	if len(headers) != 2 || !headers["a/chat"] || !headers["b/chat"] {
		t.Errorf("the requests have the headers %v", headers)
	}
}
