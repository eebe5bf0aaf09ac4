//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func costs(perToken ...float64) (out []cost) {
	for _, c := range perToken {
		out = append(out, cost{PerToken: c, Memory: 30})
	}
	return out
}

// TestTable: the table has medians and ranges, and a goal is compared with the ratios of rounds, not of medians.
func TestTable(t *testing.T) {
	readers := []client{{name: "plain"}, {name: "path", goal: 1.1}}
	r := results{"1000 x 20/s": {"plain": costs(10, 20, 10), "path": costs(11, 22, 12)}}
	want := "|  | path | 12.00 (11.00–22.00) | 1.10 (1.10–1.20) |  |  | 30 (30–30) |"
	if got := table(r, []scenario{{name: "1000 x 20/s"}}, readers); !strings.Contains(got, want) {
		t.Errorf("the table lacks %q:\n%s", want, got)
	}
	if got := r.missed(readers); len(got) != 0 {
		t.Errorf("at the goal: %q", got)
	}
	r["1000 x 20/s"]["path"] = costs(12, 24, 10)
	r["in memory"] = map[string][]cost{"plain": costs(10), "path": costs(15)}
	if got := r.missed(readers); len(got) != 2 {
		t.Errorf("above the goals: %q", got)
	}
}

// TestReaders: both readers log a turn with the times at which the server wrote it, over every protocol.
func TestReaders(t *testing.T) {
	for _, protocol := range []string{"", overTLS, overHTTP2} {
		s := scenario{name: "few", streams: 100, gap: time.Millisecond, tokens: 5, protocol: protocol}
		srv := &server{scenario: s}
		url, stop, err := srv.start()
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		for _, kind := range []string{"plain", "path"} {
			var log bytes.Buffer
			r := newReader(kind, s, url, &log)
			before := srv.tokens.Load()
			from := time.Now()
			if err := r.turn(t.Context()); err != nil {
				t.Fatalf("%s %s: %v", kind, protocol, err)
			}
			if n := srv.tokens.Load() - before; n != int64(s.tokens) {
				t.Errorf("%s %s: %d tokens written, want %d", kind, protocol, n, s.tokens)
			}
			var logged turn
			if err := json.Unmarshal(log.Bytes(), &logged); err != nil {
				t.Fatal(err)
			}
			if got := late([]turn{logged}, srv.taken(), from, time.Now()); got.P50 <= 0 || got.P99 > 1e6*time.Since(from).Seconds() {
				t.Errorf("%s %s: lateness %+v of %+v", kind, protocol, got, logged)
			}
		}
	}
}
