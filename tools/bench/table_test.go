//go:build linux

package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe/wire"
	"synthetic/tools/measured"
)

var (
	one     = []scenario{{name: "few"}, {name: "many"}}
	readers = []client{{name: "plain"}, {name: "path"}}
)

func costs(perToken ...float64) (out []cost) {
	for _, c := range perToken {
		out = append(out, cost{PerToken: c, Memory: 30})
	}
	return out
}

// TestTableIsReadBack checks that -check reads the ratios that -write wrote, and that it compares rounds, not medians.
func TestTableIsReadBack(t *testing.T) {
	r := results{
		"few":  {"plain": costs(10, 20, 10), "path": costs(11, 22, 12)},
		"many": {"plain": costs(10), "path": costs(9)},
	}
	file := filepath.Join(t.TempDir(), "page.md")
	begin, end := measured.Marks("bench")
	page := "before\n\n" + begin + "old\n" + end + "after\n"
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := measured.Replace(file, "bench", table(r, one, readers)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "after\n") || strings.Contains(got, "old") {
		t.Errorf("the page is\n%s", got)
	}
	if want := "|  | path | 12.00 (11.00–22.00) | 1.10 (1.10–1.20) |  |  | 30 (30–30) |"; !strings.Contains(string(text), want) {
		t.Errorf("the table lacks %q:\n%s", want, text)
	}
	want, err := committed(file)
	if err != nil || want["few"]["path"] != 1.1 || want["many"]["path"] != 0.9 {
		t.Fatalf("read back %v, %v", want, err)
	}
	for share, slow := range map[float64]int{0.15: 1, 0.3: 0} {
		slower := results{"few": {"plain": costs(10, 10, 10), "path": costs(11, 14, 13)}, "many": {"plain": costs(10), "path": costs(9)}}
		if got := worse(slower, want, one, readers, share); len(got) != slow {
			t.Errorf("tolerance %g: %q", share, got)
		}
	}
	delete(want["many"], "path")
	if got := worse(r, want, one, readers, 1); len(got) != 1 || !strings.Contains(got[0], "no ratio of path at many") {
		t.Errorf("without a committed ratio: %q", got)
	}
	if err := measured.Replace(file+".none", "bench", ""); err == nil {
		t.Error("a missing file is no error")
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
