//go:build unix

package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockName is the file that two sweeps in one directory would fight for. Its
// lock ends with the process, however that ends.
const lockName = "lock"

// lockDir takes the directory for this process.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking the output directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another sweep is writing to %s (%w); wait for it, or choose another --output.dir", dir, err)
	}
	return f, nil
}
