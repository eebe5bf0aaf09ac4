// Package atomicfile replaces files as a whole: a reader sees the old file or
// the new one, and so does who looks after the machine lost its power.
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

// TempPrefix begins the names of the files that are written beside the final
// ones: TempPrefix, the final name, a dot and digits. One is left behind only by
// a process that was killed, and removed by who next locks the file or its
// directory.
const TempPrefix = ".synthetic-"

// Write gives path the content data: they go to a file beside it, which is
// synced and takes the name in one step; then the directory is synced, without
// which a crash may bring the old file back. After an error nothing is left
// beside path.
func Write(path string, data []byte, perm fs.FileMode) error {
	if err := replace(path, data, perm); err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	return nil
}

func replace(path string, data []byte, perm fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), TempPrefix+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once renamed, which is as it should be
	_, err = tmp.Write(data)
	if err == nil {
		err = errors.Join(tolerate(tmp.Chmod(perm)), tmp.Sync())
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return fileutil.Rename(tmp.Name(), path) // syncs the directory
}

// tolerate forgives a volume that knows no modes (SMB, FUSE, some of NFS) that it
// refuses one: it decides itself who may read.
func tolerate(chmod error) error {
	if errors.Is(chmod, fs.ErrPermission) || errors.Is(chmod, errors.ErrUnsupported) {
		return nil
	}
	return chmod
}

// Full reports whether an error says that there is no room: on the disk, or in
// somebody's share of it.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
