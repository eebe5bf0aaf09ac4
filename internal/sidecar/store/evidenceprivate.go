package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"synthetic/internal/atomicfile"
)

// makePrivate takes the access of other users from a directory of evidence and from its files. The kubelet gives it to them: at
// each mount of a volume with an fsGroup, it sets the mode of directories to 2770 and that of files to 0660. A directory that
// belongs to another user or has been used for something else is not changed, but refused.
func makePrivate(directory string, logger *slog.Logger) error {
	info, err := os.Stat(directory)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is not a directory; name another path", directory)
	case isPrivate(info):
		return nil
	}
	refuse := func(why string) error {
		return fmt.Errorf("other users have access to %q (mode %#o), which will contain answers, and %s: run chmod 700 on it, or name a directory that does not exist yet", directory, info.Mode().Perm(), why)
	}
	if owner, isKnown := info.Sys().(*syscall.Stat_t); isKnown && int(owner.Uid) != os.Geteuid() {
		return refuse(fmt.Sprintf("it belongs to the user %d, not to the user %d of this process", owner.Uid, os.Geteuid()))
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	isLock := func(e fs.DirEntry) bool { return e.Name() == atomicfile.LockName }
	if len(entries) > 0 && !slices.ContainsFunc(entries, isLock) { // such as /tmp
		return refuse("it contains other files")
	}
	if err := os.Chmod(directory, 0o700); err != nil {
		return refuse(err.Error())
	}
	if info, err := os.Stat(directory); err != nil || !isPrivate(info) {
		return refuse("its volume does not keep modes")
	}
	logger.Info("Other users had access to the directory of evidence; it has the mode 0700 now", "directory", directory, "mode_before", fmt.Sprintf("%#o", info.Mode().Perm()))
	if err := makeFilesPrivate(directory, entries); err != nil { // nobody else reaches them in the directory
		logger.Warn("Files of evidence have not got the mode 0600", "err", err)
	}
	return nil
}

func isPrivate(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

func makeFilesPrivate(directory string, entries []fs.DirEntry) (err error) {
	for _, entry := range entries {
		if _, isEvidence := parseEvidenceName(entry.Name()); isEvidence && entry.Type().IsRegular() {
			err = errors.Join(err, os.Chmod(filepath.Join(directory, entry.Name()), 0o600))
		}
	}
	return err
}
