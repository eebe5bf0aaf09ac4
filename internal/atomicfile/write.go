// Package atomicfile replaces whole files. A reader sees either the old or the new content,
// even after a power failure.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/prometheus/prometheus/tsdb/fileutil"
)

// TempPrefix starts the names of temporary files: TempPrefix, the final name, a dot and digits.
// Only a killed process leaves one behind. The next lock of the file or its directory removes
// it.
const TempPrefix = ".synthetic-"

// Write replaces the content of path. It writes and syncs a temporary file beside path, renames
// it, and syncs the directory; without the last step a crash could bring the old file back.
// After an error there is no temporary file.
func Write(path string, data []byte, perm fs.FileMode) error {
	if err := writeAndRename(path, data, perm); err != nil {
		return fmt.Errorf("writing %q: %w; its directory must be writable and have room", path, err)
	}
	return nil
}

func writeAndRename(path string, data []byte, perm fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), TempPrefix+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, which is fine
	_, err = tmp.Write(data)
	if err == nil {
		err = errors.Join(ignoreUnsupported(tmp.Chmod(perm)), tmp.Sync())
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return fileutil.Rename(tmp.Name(), path) // syncs the directory
}

// ignoreUnsupported ignores the chmod error of volumes without file modes (SMB, FUSE, some
// NFS).
func ignoreUnsupported(chmod error) error {
	if errors.Is(chmod, fs.ErrPermission) || errors.Is(chmod, errors.ErrUnsupported) {
		return nil
	}
	return chmod
}

// IsDiskFull reports whether err means a full disk or an exhausted quota.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
