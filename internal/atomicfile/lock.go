package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/prometheus/prometheus/tsdb/fileutil"
)

// Lock keeps other processes from what is kept at a path. It is of the kernel,
// and ends with the process, however that ends; its file stays.
type Lock struct{ of fileutil.Releaser }

// HeldError says that another process has the lock.
type HeldError struct {
	// Path is what is locked. Holder is who has it, as "process 12 on prober-0";
	// "" if it is not known.
	Path, Holder string
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%q is in use by %s; stop it, or choose another place", e.Path, cmp.Or(e.Holder, "another process"))
}

// LockName is the name of the lock of a directory.
const LockName = "lock"

// LockFile locks the file at path, which need not be there, by one of the same
// name and ".lock". It removes what killed processes left of writing the file.
// The error is a *HeldError if another process has the lock.
func LockFile(path string) (*Lock, error) {
	return lock(path, path+".lock", filepath.Base(path)+".")
}

// LockDir locks a directory that is there, by the file "lock" in it. It removes
// what killed processes left of writing files in the directory. The error is a
// *HeldError if another process has the lock.
func LockDir(dir string) (*Lock, error) {
	return lock(dir, filepath.Join(dir, LockName), "")
}

// Held reports whether the lock keeps anybody out: not every volume knows locks.
func (l *Lock) Held() bool { return l != nil && l.of != nil }

// Release gives the lock back, if it was taken and not yet given back.
func (l *Lock) Release() {
	if !l.Held() {
		return
	}
	_ = l.of.Release() // the kernel has it back at the latest with the process
	l.of = nil
}

// lock takes the lock of path in the file name, and removes the leftovers beside
// it.
func lock(path, name, leftovers string) (*Lock, error) {
	dir := filepath.Dir(name)
	_, err := os.Stat(dir)
	if err != nil {
		return nil, unlocked(path, err) // Flock would make the directory
	}
	of, _, err := fileutil.Flock(name)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder, _ := os.ReadFile(name)
		return nil, &HeldError{path, strings.TrimSpace(string(holder))}
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK):
		return &Lock{}, nil // a volume that knows no locks: better kept unlocked than not kept
	case err != nil:
		return nil, unlocked(path, err)
	}
	// The words are for people; on a full disk there are none.
	host, _ := os.Hostname()
	_ = os.WriteFile(name, fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o644)
	if err := removeStrays(dir, leftovers); err != nil {
		return nil, errors.Join(err, of.Release())
	}
	return &Lock{of}, nil
}

func unlocked(path string, err error) error {
	return fmt.Errorf("locking %q: %w; its directory must exist and be writable", path, err)
}

// RemoveStrays removes what killed processes left of writing files in a
// directory. Nobody may be writing there.
func RemoveStrays(dir string) error { return removeStrays(dir, "") }

// RemoveStraysOf does so with the file at path alone, which nobody else may be
// writing.
func RemoveStraysFor(path string) error {
	return removeStrays(filepath.Dir(path), filepath.Base(path)+".")
}

// removeStrays removes the temporary files of one final name, which is given
// with its dot, or of all.
func removeStrays(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for leftovers in %q: %w", dir, err)
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), TempPrefix+name)
		if !ours || !e.Type().IsRegular() || name != "" && strings.Trim(rest, "0123456789") != "" {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("removing what a killed process left: %w", err)
		}
	}
	return nil
}
