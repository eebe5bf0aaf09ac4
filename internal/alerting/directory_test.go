package alerting

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"synthetic/internal/atomicfile"
)

// TestRemoveAbandoned: a new pager removes the temporary directories of killed pagers only.
func TestRemoveAbandoned(t *testing.T) {
	parent := t.TempDir()
	for _, d := range []struct {
		name            string
		age             time.Duration
		locked, foreign bool
	}{
		{name: "synthetic-pager-killed", age: time.Hour},
		{name: "synthetic-pager-runs", age: time.Hour, locked: true},
		{name: "synthetic-pager-begins"},
		{name: "synthetic-pager-strange", age: time.Hour, foreign: true},
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
		if d.foreign {
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
	next := &directory{}
	if err := next.claim(); err != nil {
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
		t.Error("a missing directory has free space")
	}
}

// TestSpaceOfNew reads the free space for a directory that does not exist yet.
func TestSpaceOfNew(t *testing.T) {
	parent := t.TempDir()
	for _, below := range []string{"", "new", "new/er"} {
		d := &directory{path: filepath.Join(parent, below), freeBytes: freeBytes}
		if err := d.requireSpace(1); err != nil || d.existing() != parent {
			t.Errorf("for %q, the free space of %q is read (%v), want %q", below, d.existing(), err, parent)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(parent, "none"))
	if d := (&directory{}); d.existing() != parent {
		t.Errorf("a temporary directory will be created in %q, want %q", d.existing(), parent)
	}
}
