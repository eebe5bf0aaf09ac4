// Package atomicfile replaces whole files, and locks files and directories. A reader sees either the old or
// the new content of a file, even after a power failure.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// Write replaces the content of path. After an error there is no temporary file.
func Write(path string, data []byte, perm fs.FileMode) error {
	to, err := Create(path, perm)
	if err == nil {
		defer to.Cleanup()
		_, err = to.Write(data)
	}
	if err == nil {
		err = to.CloseAtomicallyReplace()
	}
	if err != nil {
		return fmt.Errorf("writing %q: %w; its directory must be writable and have room", path, err)
	}
	return nil
}

// Create creates the temporary file that replaces path. A killed process leaves it behind; the next lock of the
// file or its directory removes it.
func Create(path string, perm fs.FileMode) (*renameio.PendingFile, error) {
	return renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(perm))
}

// IsDiskFull reports whether err means a full disk or an exhausted quota.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
