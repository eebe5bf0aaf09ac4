package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func touch(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestLock checks that a second lock fails and names the process that holds the first, and that
// only temporary files of the locked file are removed.
func TestLock(t *testing.T) {
	for name, tt := range map[string]struct {
		lock func(string) (*Lock, error)
		path string
		left []string
	}{
		"a file":      {LockFile, "state.json", []string{".synthetic-other.json.12", ".synthetic-state.json.5.7", "other.json", "state.json.lock"}},
		"a directory": {LockDir, "", []string{"lock", "other.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			touch(t, dir, ".synthetic-state.json.123", ".synthetic-state.json.5.7", ".synthetic-other.json.12", "other.json")
			path := filepath.Join(dir, tt.path)
			first, err := tt.lock(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(t, dir); !slices.Equal(got, tt.left) {
				t.Errorf("%q is left, want %q", got, tt.left)
			}
			_, err = tt.lock(path)
			held, ok := errors.AsType[*heldError](err)
			if !ok || !strings.HasPrefix(held.Holder, fmt.Sprintf("process %d on ", os.Getpid())) || held.Path != path || !strings.Contains(err.Error(), "choose another place") {
				t.Errorf("locked twice: %v", err)
			}
			first.Release()
			again, err := tt.lock(path)
			if err != nil {
				t.Fatalf("after it was given back: %v", err)
			}
			again.Release()
		})
	}
}

func TestLockNowhere(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	for _, lock := range []func(string) (*Lock, error){LockFile, LockDir} {
		if _, err := lock(filepath.Join(none, "x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want that there is no directory", err)
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("locking made a directory")
	}
}

func TestHeldByNobodyKnown(t *testing.T) {
	if text := (&heldError{Path: "x"}).Error(); strings.Contains(text, "0") || !strings.Contains(text, "another process") {
		t.Errorf("got %q", text)
	}
}

// TestModesRefused checks that Write accepts a volume without file modes, but no other chmod
// error.
func TestModesRefused(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOTSUP, syscall.ENOSYS} {
		if err := ignoreUnsupported(&fs.PathError{Op: "chmod", Err: errno}); err != nil {
			t.Errorf("%v is not forgiven", err)
		}
	}
	if err := ignoreUnsupported(&fs.PathError{Op: "chmod", Err: syscall.EIO}); !errors.Is(err, syscall.EIO) {
		t.Errorf("EIO became %v", err)
	}
}
