//go:build linux

package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// TestTable: a row has the median and the range of the runs, and says how many failed.
func TestTable(t *testing.T) {
	load := scenario{level: 64, requests: 2}
	server := newTruth()
	server.seen = []answer{{ttft: 100e6, tpot: 20e6}, {ttft: 100e6, tpot: 20e6}}
	off := 0.0
	r := &row{load: load, tool: tool{name: "a tool", read: func(string) ([5]float64, error) {
		off++
		return [5]float64{100 + off, 100 - off, 100, 20, 20 + off/10}, nil
	}}}
	for range 3 {
		if err := r.add(server, &syscall.Rusage{Utime: syscall.Timeval{Sec: 2}, Maxrss: 5 << 10}); err != nil {
			t.Fatal(err)
		}
	}
	r.failures = []string{"once"}
	broken := &row{load: load, tool: tool{name: "broken"}, failures: []string{"exit 1: a | b\nc", "again"}}
	if !broken.gaveUp() || r.gaveUp() {
		t.Error("a tool gives up after its second failure")
	}
	want := `| 64 streams | a tool (3 runs, 1 failed) | +2.0 (+1.0 to +3.0) | -2.0 (-3.0 to -1.0) | +0.0 (+0.0 to +0.0) | +0.00 (+0.00 to +0.00) | +0.20 (+0.10 to +0.30) | 2.0 (2.0–2.0) | 5 (5–5) |
| 64 streams | broken | failed: exit 1: a / b c | | | | | | |
`
	if got := strings.TrimPrefix(table([]*row{r, broken, {load: load}}), columns); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	best := &row{load: load, tool: tool{name: "best"}, cpu: []float64{3}, memory: []float64{4}}
	for i := range best.off {
		best.off[i] = []float64{-0.5}
	}
	if got, want := wins([]*row{r, broken, best}), `
- 64 streams, TTFT p50: best -0.50, a tool +2.00
- 64 streams, TTFT p95: best -0.50, a tool -2.00
- 64 streams, MB: best +4.00, a tool +5.00

`; !strings.HasSuffix(got, want) {
		t.Errorf("wins:\n%s", got)
	}
	if got := wins([]*row{best, r}); !strings.Contains(got, "TTFT p99: a tool +0.00") {
		t.Errorf("wins:\n%s", got)
	}
	r.load.requests = 3
	if err := r.add(server, &syscall.Rusage{}); err == nil || !strings.Contains(r.last(err), "2 of 3") || !strings.Contains(r.last(errors.New("x")), "failed: x") {
		t.Errorf("a missing response: %v", err)
	}
}
