package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/prometheus/prometheus/tsdb/fileutil"
)

// Lock excludes other processes from a file or directory. The kernel holds the lock and
// releases it when the process ends. The lock file stays. On Linux, the process also reserves a name in
// its network namespace, so the lock holds even if somebody removes the lock file.
type Lock struct {
	releaser fileutil.Releaser
	name     io.Closer // nil if the kernel keeps none
}

// heldError means that another process holds the lock.
type heldError struct {
	// Path is the locked path. Holder is a text such as "process 12 on prober-0", or "" if
	// unknown.
	Path, Holder string
}

func (e *heldError) Error() string {
	return fmt.Sprintf("%q is in use by %s; stop it, or choose another place", e.Path, cmp.Or(e.Holder, "another process"))
}

// LockName is the name of the lock file in a directory.
const LockName = "lock"

// LockFile locks the file at path, which need not exist, with the lock file path.lock. It
// removes temporary files of path that killed processes left. If another process holds the
// lock, the error is a *heldError.
func LockFile(path string) (*Lock, error) {
	return lock(path, path+".lock", filepath.Base(path)+".")
}

// LockDir locks an existing directory with the lock file LockName. It removes all temporary
// files in it that killed processes left. If another process holds the lock, the error is a
// *heldError.
func LockDir(dir string) (*Lock, error) {
	return lock(dir, filepath.Join(dir, LockName), "")
}

// IsHeld reports whether the lock excludes other processes. Some volumes do not support locks.
func (l *Lock) IsHeld() bool { return l != nil && l.releaser != nil }

// Release releases the lock. It can be called more than once.
func (l *Lock) Release() {
	if !l.IsHeld() {
		return
	}
	_ = l.releaser.Release() // the kernel releases it when the process ends
	if l.name != nil {
		_ = l.name.Close()
	}
	l.releaser = nil
}

// lock locks path with the given lock file, and removes temporary files beside it.
func lock(path, lockFile, leftovers string) (*Lock, error) {
	dir := filepath.Dir(lockFile)
	_, err := os.Stat(dir)
	if err != nil {
		return nil, lockError(path, err) // Flock would create the directory
	}
	releaser, _, err := fileutil.Flock(lockFile)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder, _ := os.ReadFile(lockFile)
		return nil, &heldError{path, strings.TrimSpace(string(holder))}
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK):
		return &Lock{}, nil // the volume does not support locks; run without one
	case err != nil:
		return nil, lockError(path, err)
	}
	name, err := keepName(lockFile)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errors.Join(&heldError{path, ""}, releaser.Release())
	}
	// This is only for heldError, so a failure (such as a full disk) does not matter.
	host, _ := os.Hostname()
	_ = os.WriteFile(lockFile, fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o644)
	if err := removeStrays(dir, leftovers); err != nil {
		l := &Lock{releaser, name}
		l.Release()
		return nil, err
	}
	return &Lock{releaser, name}, nil
}

func lockError(path string, err error) error {
	return fmt.Errorf("locking %q: %w; its directory must exist and be writable", path, err)
}

// RemoveStrays removes the temporary files in dir that killed processes left. No process may be
// writing there.
func RemoveStrays(dir string) error { return removeStrays(dir, "") }

// RemoveStraysFor removes the temporary files of the file at path.
func RemoveStraysFor(path string) error {
	return removeStrays(filepath.Dir(path), filepath.Base(path)+".")
}

// removeStrays removes temporary files. If name is set, it is the final file name with a
// trailing dot.
func removeStrays(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("listing temporary files in %q: %w", dir, err)
	}
	for _, e := range entries {
		rest, isTemp := strings.CutPrefix(e.Name(), TempPrefix+name)
		if !isTemp || !e.Type().IsRegular() || name != "" && strings.Trim(rest, "0123456789") != "" {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("removing a temporary file of a killed process: %w", err)
		}
	}
	return nil
}
