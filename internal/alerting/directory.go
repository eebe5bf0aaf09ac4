package alerting

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"synthetic/internal/atomicfile"
)

// directory is the storage directory of one pager.
type directory struct {
	// path is "" until a temporary directory was created.
	path string
	// permanent is true for a configured directory, which is kept.
	permanent bool
	logger    *slog.Logger
	freeBytes func(dir string) (uint64, error)
	mkdir     func(dir string, mode fs.FileMode) error
	lock      *atomicfile.Lock
}

const (
	// minSpace is the free space below which the database is not used. Between two checks, one at
	// each scrape, a full pager of 50,000 series writes about 10 MiB to the log, or as much in
	// chunks, allocated in steps of 128 KiB. A block takes blockSegment and 10 MiB more.
	minSpace = 32 << 20
	// resumeSpace is the free space at which a stopped pager continues.
	resumeSpace = minSpace + minSpace/4
)

// errNoSpace reports an almost full volume.
var errNoSpace = errors.New("the disk is almost full")

// requireSpace returns errNoSpace if fewer than the needed bytes are free.
func (d *directory) requireSpace(needed uint64) error {
	path := d.existing()
	free, err := d.freeBytes(path)
	if err != nil {
		return fmt.Errorf("reading the free space of %q: %w", path, err)
	}
	if free < needed {
		return fmt.Errorf("%w: %d MiB are free in %q, the pager needs %d; free some space, or choose another alerting.directory", errNoSpace, free>>20, path, needed>>20)
	}
	return nil
}

// existing returns the directory or, before it is created, the nearest existing parent.
func (d *directory) existing() string {
	if d.lock != nil {
		return d.path
	}
	path := cmp.Or(d.path, os.TempDir())
	for {
		_, err := os.Stat(path)
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return path
		}
		path = parent
	}
}

// open creates and locks the directory if needed, and opens the database. It checks the free
// space first: the database may rewrite all chunks of its head, up to 20 MiB, in goroutines whose
// panics cannot be recovered.
func (d *directory) open() (*store, error) {
	if err := d.claim(); err != nil {
		return nil, err
	}
	if err := d.requireSpace(resumeSpace); err != nil {
		return nil, err
	}
	return openStore(d.path, d.permanent, d.logger)
}

func (d *directory) claim() error {
	if d.lock != nil {
		return nil
	}
	if !d.permanent {
		return d.claimTemporary()
	}
	if err := d.mkdir(d.path, 0o755); err != nil {
		return fmt.Errorf("creating the pager's directory: %w; set alerting.directory to a writable directory", err)
	}
	lock, err := atomicfile.LockDir(d.path)
	if err != nil {
		return fmt.Errorf("alerting.directory: %w", err)
	}
	d.lock = lock
	return nil
}

// temporaryPrefix is the prefix of temporary directories.
const temporaryPrefix = "synthetic-pager-"

func (d *directory) claimTemporary() error {
	removeAbandoned(os.TempDir())
	dir, err := os.MkdirTemp("", temporaryPrefix)
	if err != nil {
		return fmt.Errorf("creating a temporary directory for the pager: %w; set alerting.directory to a writable directory", err)
	}
	lock, err := atomicfile.LockDir(dir)
	if err != nil {
		return errors.Join(fmt.Errorf("the pager's temporary directory: %w", err), os.Remove(dir))
	}
	d.path, d.lock = dir, lock
	return nil
}

// close unlocks the directory, and removes it if it is temporary.
func (d *directory) close() {
	if !d.permanent && d.path != "" {
		_ = os.RemoveAll(d.path) // the next pager tries again
	}
	d.lock.Release()
}

// abandonedAge is the age from which an unlocked temporary directory counts as abandoned: a
// process creates it and locks it a moment later.
const abandonedAge = 10 * time.Second

// removeAbandoned removes the temporary directories of this user's killed processes.
func removeAbandoned(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, temporaryPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !isOwn(info) || time.Since(info.ModTime()) < abandonedAge {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, atomicfile.LockName)); err != nil {
			continue // it belongs to another program
		}
		lock, err := atomicfile.LockDir(dir)
		if err == nil && lock.IsHeld() {
			_ = os.RemoveAll(dir) // the next pager tries again
		}
		lock.Release()
	}
}

func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// freeBytes returns the bytes that an unprivileged user may still write to the volume of dir.
func freeBytes(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
