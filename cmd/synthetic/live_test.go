package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"synthetic/internal/sidecar/status"
)

// TestLiveRedrawsInPlace: each drawing erases exactly the lines of the previous one, and a
// permanent line takes their place.
func TestLiveRedrawsInPlace(t *testing.T) {
	var out strings.Builder
	v, seen := newLive(&out), status.Snapshot{Jobs: []status.Job{{Target: "demo", Workload: "chat"}}}
	v.draw(seen)
	plain := out.String()
	if strings.Contains(plain, "\x1b") || !strings.HasPrefix(plain, "demo/chat  0 turns") {
		t.Fatalf("output that is not a terminal: %q", plain)
	}
	v.terminal = true
	out.Reset()
	v.draw(seen)
	if want := noWrap + plain + wrap; out.String() != want {
		t.Errorf("the first block is %q, want %q", out.String(), want)
	}
	out.Reset()
	v.draw(seen)
	lines := strings.Count(plain, "\n")
	if want := fmt.Sprintf("\x1b[%dA\x1b[J", lines) + noWrap + plain + wrap; out.String() != want {
		t.Errorf("the second block is %q, want %q", out.String(), want)
	}
	v.say(bad, "an alert")
	out.Reset()
	v.draw(seen)
	if want := noWrap + plain + wrap; out.String() != want {
		t.Errorf("the block after a permanent line is %q, want %q", out.String(), want)
	}
}

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
	for _, path := range []string{"/", "/alerts", "/metrics", "/-/ready"} {
		if code, body := p.get(path); code != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
	p.out.find(t, `(?m)^  first turns .* ms .*\d$`)
	// Ctrl-C cancels turns in flight without a log line.
	if code := p.end(); code != exitOK || strings.Contains(p.err.String(), "in flight") {
		t.Errorf("exit code %d; log:\n%s", code, p.err)
	}
}
