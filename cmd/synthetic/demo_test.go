package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestDemo checks the output of the demo.
func TestDemo(t *testing.T) {
	t.Parallel()
	p := start(t, "demo", "--web.listen-address=127.0.0.1:0")
	p.base = strings.TrimSuffix(p.out.find(t, `status page +(\S+)`), "/")
	if _, err := url.Parse(p.base); err != nil {
		t.Fatal(err)
	}
	p.until("turns", func(s map[string]float64) bool {
		n, _ := sum(s, "synthetic_turns_total")
		return n >= 5
	})
	for _, path := range []string{"/", "/metrics", "/-/ready"} {
		if code, body := p.get(path); code != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
	// Ctrl-C cancels turns in flight without a log line.
	if code := p.end(); code != exitOK || strings.Contains(p.err.String(), "in flight") {
		t.Errorf("exit code %d; log:\n%s", code, p.err)
	}
	p.out.find(t, `The demo ran for \d+s\.\n\ndemo/chat  \d+ turns, 0 failed\n`)
	p.out.find(t, `Try next\n.* probe --base-url`)
}
