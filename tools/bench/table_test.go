//go:build linux

package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe/wire"
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

// TestReadersSeeTheStamps reads a turn with both readers: each token has the time at which the server wrote it.
func TestReadersSeeTheStamps(t *testing.T) {
	s := scenario{name: "few", streams: 1, gap: time.Millisecond, tokens: 5}
	for name, via := range map[string]struct {
		rt   http.RoundTripper
		read readTurn
	}{"plain": {&http.Transport{DisableKeepAlives: true}, plain}, "path": {wire.New(wire.Options{}), path}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv := &server{scenario: s}
		go func() {
			if c, err := l.Accept(); err == nil {
				srv.connection(c)
			}
		}()
		tokens := 0
		if err := turn(t.Context(), "http://"+l.Addr().String(), via.rt, via.read, func(content []byte, at time.Time) {
			tokens++
			if len(content) != stampDigits || at.IsZero() {
				t.Errorf("%s: %q at %v", name, content, at)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if tokens != s.tokens || srv.tokens.Load() != int64(s.tokens) {
			t.Errorf("%s: %d tokens read, %d written, want %d", name, tokens, srv.tokens.Load(), s.tokens)
		}
		_ = l.Close()
		if c, ok := via.rt.(io.Closer); ok {
			_ = c.Close()
		}
	}
}
