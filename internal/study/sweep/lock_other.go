//go:build !unix

package sweep

import (
	"fmt"
	"os"
	"path/filepath"
)

// lockName is the file that stands for the lock, which this system lacks.
const lockName = "lock"

// lockDir opens the file and locks nothing.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the output directory: %w", err)
	}
	return f, nil
}
