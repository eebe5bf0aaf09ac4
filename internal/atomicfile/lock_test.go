package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
// only temporary files of the locked file and its companions are removed.
func TestLock(t *testing.T) {
	for name, tt := range map[string]struct {
		lock func(string) (*Lock, error)
		path string
		left []string
	}{
		"a file":      {LockFile, "state.json", []string{".other.json1234567890123", ".state.json.5", "other.json", "state.json.lock"}},
		"a directory": {LockDir, "", []string{".state.json.5", "lock", "other.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			touch(t, dir, ".state.json1234567890123", ".state.json.history1234567890123", ".state.json.5", ".other.json1234567890123", "other.json")
			path := filepath.Join(dir, tt.path)
			first, err := tt.lock(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(t, dir); !slices.Equal(got, tt.left) {
				t.Errorf("%q is left, want %q", got, tt.left)
			}
			_, err = tt.lock(path)
			if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("%q is in use by process %d on ", path, os.Getpid())) || !strings.Contains(err.Error(), "choose another place") {
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
