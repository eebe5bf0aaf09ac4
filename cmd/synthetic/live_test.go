package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

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

// TestObjectiveLine: the line of an objective says why no turn is judged.
func TestObjectiveLine(t *testing.T) {
	var recent status.Job
	recent.Recent.Span.V = 15 * time.Minute
	recent.Turns = 2237
	busy := recent
	busy.Recent.Turns = 512
	judged := status.SLO{Judged: 4, Good: 3}
	judged.Share.V, judged.Share.OK, judged.Objective.V, judged.Objective.OK = .75, true, .99, true
	for want, test := range map[string]struct {
		job status.Job
		slo status.SLO
	}{
		"no turn yet":             {status.Job{}, status.SLO{}},
		"no turn in the last 15m": {recent, status.SLO{}},
		"512 turns, none judged: part of a burst, or the prober was late": {busy, status.SLO{}},
		"75 % of 4 turns good, objective 99 %: missed":                    {busy, judged},
	} {
		if got := paint(false).objective(test.job, test.slo); got != want {
			t.Errorf("%q, want %q", got, want)
		}
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
	p.out.find(t, `The demo ran for \d+s\.\n\ndemo/chat  \d+ turns, 0 failed\n  TTFT in the last \d+s\n    first turns  p50 \d+ ms, p99 \d+ ms\n`)
	p.out.find(t, `Try next\n.* demo --scenario=regression\n`)
}
