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

// home is the directory of one pager.
type home struct {
	// dir is "" until a temporary one was created.
	dir string
	// lasting is true for a configured directory, which is kept.
	lasting   bool
	retention time.Duration
	logger    *slog.Logger
	// free returns the number of bytes that may be written to the volume of a directory.
	free func(dir string) (uint64, error)
	// mkdir creates a directory and its parents.
	mkdir func(dir string, mode fs.FileMode) error
	lock  *atomicfile.Lock
}

const (
	// floor is the free space below which the database is not used. Between two checks, one at
	// each scrape, a full pager of 50,000 series writes about 10 MiB to the log, or as much in
	// chunks, allocated in steps of 128 KiB. A block takes blockSegment and 10 MiB more.
	floor = 32 << 20
	// enough is the free space at which a stopped pager continues.
	enough = floor + floor/4
)

// errNoRoom reports an almost full volume.
var errNoRoom = errors.New("there is hardly any room on the disk")

// room returns errNoRoom if fewer than least bytes are free.
func (h *home) room(least uint64) error {
	free, err := h.free(h.place())
	if err != nil {
		return fmt.Errorf("asking for the room in %q: %w", h.place(), err)
	}
	if free < least {
		return fmt.Errorf("%w: %d MiB are free in %q, it takes %d; make room there, or choose another alerting.directory", errNoRoom, free>>20, h.place(), least>>20)
	}
	return nil
}

// place returns the directory or, before it exists, the nearest existing parent: on a full disk
// it cannot be created.
func (h *home) place() string {
	if h.lock != nil {
		return h.dir
	}
	place := cmp.Or(h.dir, os.TempDir())
	for {
		_, err := os.Stat(place)
		above := filepath.Dir(place)
		if !errors.Is(err, fs.ErrNotExist) || above == place {
			return place
		}
		place = above
	}
}

// open creates and locks the directory if needed, and opens the database. Replaying its log may
// rewrite all chunks of the head, up to 20 MiB, in goroutines whose panics cannot be recovered,
// so it checks the free space first.
func (h *home) open() (*store, error) {
	if err := h.take(); err != nil {
		return nil, err
	}
	if err := h.room(enough); err != nil {
		return nil, err
	}
	return openStore(h.dir, h.retention, h.lasting, h.logger)
}

// take creates and locks the directory.
func (h *home) take() error {
	if h.lock != nil {
		return nil
	}
	if !h.lasting {
		return h.takeTemporary()
	}
	if err := h.mkdir(h.dir, 0o755); err != nil {
		return fmt.Errorf("making the pager's directory: %w; set alerting.directory to one that can be written to", err)
	}
	lock, err := atomicfile.LockDir(h.dir)
	if err != nil {
		return fmt.Errorf("alerting.directory: %w", err)
	}
	h.lock = lock
	return nil
}

// temporaryPrefix is the prefix of temporary directories.
const temporaryPrefix = "synthetic-pager-"

func (h *home) takeTemporary() error {
	removeAbandoned(os.TempDir())
	dir, err := os.MkdirTemp("", temporaryPrefix)
	if err != nil {
		return fmt.Errorf("making a temporary directory for the pager: %w; set alerting.directory to one that can be written to", err)
	}
	lock, err := atomicfile.LockDir(dir)
	if err != nil {
		return errors.Join(fmt.Errorf("the pager's temporary directory: %w", err), os.Remove(dir))
	}
	h.dir, h.lock = dir, lock
	return nil
}

// close unlocks the directory, and removes it if it is temporary.
func (h *home) close() {
	if !h.lasting && h.dir != "" {
		_ = os.RemoveAll(h.dir) // the next pager tries again
	}
	h.lock.Release()
}

// unborn is the age from which an unlocked temporary directory counts as abandoned: a process
// creates and locks it in two steps.
const unborn = 10 * time.Second

// removeAbandoned removes the temporary directories of this user's killed processes.
func removeAbandoned(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, temporaryPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ours(info) || time.Since(info.ModTime()) < unborn {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, atomicfile.LockName)); err != nil {
			continue // another program's
		}
		lock, err := atomicfile.LockDir(dir)
		if err == nil && lock.IsHeld() {
			_ = os.RemoveAll(dir) // the next pager tries again
		}
		lock.Release()
	}
}

func ours(info fs.FileInfo) bool {
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
