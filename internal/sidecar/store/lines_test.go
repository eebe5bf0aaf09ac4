package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLines: lines are appended, a torn last line is dropped, and the file keeps its limit and the last lines.
func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.lines")
	const limit = 100
	l, text, err := ReadLines(path, limit)
	if err != nil || len(text) != 0 {
		t.Fatalf("a missing file has %q (%v)", text, err)
	}
	var all strings.Builder
	save := func() {
		t.Helper()
		line := fmt.Sprintf("{\"n\":%d}\n", all.Len())
		all.WriteString(line)
		if err := l.Save(func(everything bool) []byte {
			if everything {
				return []byte(all.String())
			}
			return []byte(line)
		}); err != nil {
			t.Fatal(err)
		}
	}
	wantEnd := func(size int) {
		t.Helper()
		have, err := os.ReadFile(path)
		if err != nil || len(have) != size || !strings.HasSuffix(all.String(), string(have)) {
			t.Errorf("the file has %d bytes (%v), want the last %d of %q: %q", len(have), err, size, all.String(), have)
		}
	}
	save()
	save()
	wantEnd(all.Len())
	if err := os.WriteFile(path, []byte(all.String()+`{"n":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, text, err = ReadLines(path, limit); err != nil || string(text) != all.String() {
		t.Fatalf("with a torn line it has %q (%v)", text, err)
	}
	save() // replaces the file
	wantEnd(all.Len())
	for all.Len() < limit {
		save()
	}
	have, _ := os.ReadFile(path)
	if len(have) > limit/2 || len(have) == 0 {
		t.Errorf("the file has %d bytes, want at most half of its limit", len(have))
	}
	wantEnd(len(have))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(func(bool) []byte { return []byte("{}\n") }); err == nil {
		t.Error("saved into a directory")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	save()
	have, _ = os.ReadFile(path)
	wantEnd(len(have))
	if !strings.Contains(string(have), "}\n{") {
		t.Errorf("after a failed save the file has %q, want all lines", have)
	}
}
