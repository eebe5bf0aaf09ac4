package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/prometheus/prometheus/tsdb/fileutil"
)

// Lock excludes other processes from a file or directory. The kernel releases it when the process ends. The
// lock file stays.
type Lock struct{ releaser fileutil.Releaser }

// LockName is the name of the lock file in a directory.
const LockName = "lock"

// LockFile locks the file at path, which need not exist, with the lock file path.lock. It removes the temporary
// files that killed processes left of files whose names begin with that of path.
func LockFile(path string) (*Lock, error) {
	return lock(path, path+".lock", filepath.Base(path))
}

// LockDir locks an existing directory with the lock file LockName. It removes all temporary files in it.
func LockDir(dir string) (*Lock, error) {
	return lock(dir, filepath.Join(dir, LockName), "")
}

// InUseError reports that another process holds a lock.
type InUseError struct{ path, holder string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("%q is in use by %s; stop it, or choose another place", e.path, e.holder)
}

// Release releases the lock. It can be called more than once.
func (l *Lock) Release() {
	if l != nil && l.releaser != nil {
		_ = l.releaser.Release() // the kernel releases it when the process ends
		l.releaser = nil
	}
}

func lock(path, lockFile, names string) (*Lock, error) {
	failed := func(err error) error {
		return fmt.Errorf("locking %q: %w; its directory must exist and be writable", path, err)
	}
	dir := filepath.Dir(lockFile)
	if _, err := os.Stat(dir); err != nil {
		return nil, failed(err) // Flock would create the directory
	}
	releaser, _, err := fileutil.Flock(lockFile)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		holder, _ := os.ReadFile(lockFile)
		return nil, &InUseError{path, cmp.Or(strings.TrimSpace(string(holder)), "another process")}
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK):
		return &Lock{}, nil // the volume does not support locks; run without one
	case err != nil:
		return nil, failed(err)
	}
	// This is only for the message of another process, so a failure (such as a full disk) does not matter.
	host, _ := os.Hostname()
	_ = os.WriteFile(lockFile, fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o644)
	if err := RemoveStrays(dir, names); err != nil {
		return nil, errors.Join(err, releaser.Release())
	}
	return &Lock{releaser}, nil
}

// temporary matches the names of the files that Create creates: a dot, the final name and a random number.
var temporary = regexp.MustCompile(`^\..+\d{10,}$`)

// RemoveStrays removes the temporary files in dir that killed processes left of files whose names begin with names.
// No process may be writing them.
func RemoveStrays(dir, names string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("listing temporary files in %q: %w", dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !temporary.MatchString(e.Name()) || !strings.HasPrefix(e.Name(), "."+names) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("removing a temporary file of a killed process: %w", err)
		}
	}
	return nil
}
