package alerting

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"synthetic/internal/atomicfile"
)

// TestRemoveAbandoned: only the directories of killed pagers go.
func TestRemoveAbandoned(t *testing.T) {
	parent := t.TempDir()
	for _, d := range []struct {
		name            string
		age             time.Duration
		locked, strange bool
	}{
		{name: "synthetic-pager-killed", age: time.Hour},
		{name: "synthetic-pager-runs", age: time.Hour, locked: true},
		{name: "synthetic-pager-begins"},
		{name: "synthetic-pager-strange", age: time.Hour, strange: true},
		{name: "something", age: time.Hour},
	} {
		dir := filepath.Join(parent, d.name)
		if err := os.MkdirAll(filepath.Join(dir, "tsdb"), 0o700); err != nil {
			t.Fatal(err)
		}
		lock, err := atomicfile.LockDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Release()
		if !d.locked {
			lock.Release()
		}
		if d.strange {
			if err := os.Remove(filepath.Join(dir, atomicfile.LockName)); err != nil {
				t.Fatal(err)
			}
		}
		then := time.Now().Add(-d.age)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", parent)
	next := &home{}
	if err := next.take(); err != nil {
		t.Fatal(err)
	}
	next.close()
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"something", "synthetic-pager-begins", "synthetic-pager-runs", "synthetic-pager-strange"}; !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q", left, want)
	}
}

func TestFreeBytes(t *testing.T) {
	if n, err := freeBytes(t.TempDir()); err != nil || n == 0 {
		t.Errorf("%d bytes are free (%v)", n, err)
	}
	if _, err := freeBytes(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that is not there has room")
	}
}

// TestRoomOfNew asks for the room of a directory that is not made yet.
func TestRoomOfNew(t *testing.T) {
	is := t.TempDir()
	for _, below := range []string{"", "new", "new/er"} {
		h := &home{dir: filepath.Join(is, below), free: freeBytes}
		if err := h.room(1); err != nil || h.place() != is {
			t.Errorf("for %q, the room of %q is asked (%v), want that of %q", below, h.place(), err, is)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(is, "none"))
	if h := (&home{}); h.place() != is {
		t.Errorf("a temporary directory will be made in %q, want %q", h.place(), is)
	}
}
