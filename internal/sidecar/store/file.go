package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/turnlog"
)

const (
	packed = ".zst"
	// stamp is the time format in the names of older files, which sort by it.
	stamp     = "20060102T150405.000Z"
	lineStart = `{"at":"`
	// lineMost is the longest partial line that open looks for at the end of a file.
	lineMost = 64 << 10
)

// file is a log file that is rotated at a size, with its older files.
type file struct {
	path string
	max  int64
	keep int
	// to is nil while the file cannot be opened. size is the size of its complete lines.
	to   *os.File
	size int64
	// newest is the latest wall time of a turn in the file. ended is true if the next turn needs a
	// new file.
	newest time.Time
	ended  bool
	// rotated is the time in the name of the newest older file.
	rotated time.Time
}

// open opens the file for appending. It cuts off a partial line that a crash left.
func (f *file) open() error {
	to, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the turn log: %w; its directory must exist and be writable", err)
	}
	info, err := to.Stat()
	size := int64(0)
	if err == nil {
		size, err = wholeLines(to, info)
	}
	if err == nil {
		err = to.Truncate(size)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("opening the turn log: %w", err), to.Close())
	}
	f.to, f.size = to, size
	if size > 0 && info.ModTime().After(f.newest) {
		f.newest = info.ModTime() // no turn in the file was sent later
	}
	return nil
}

// endsBefore reports whether a turn must go into a new file, because the wall clock was set back by more
// than readers of one file sort. Readers merge files by time.
func (f *file) endsBefore(sent time.Time) bool {
	sent = sent.Round(0) // the wall clock alone, which the line has
	back := f.newest.Sub(sent) > turnlog.Slack
	if back || sent.After(f.newest) {
		f.newest = sent
	}
	return back
}

// wholeLines returns the size of a file up to its last complete line. It fails for a file that
// is no log.
func wholeLines(from *os.File, info os.FileInfo) (int64, error) {
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%q is not a regular file, so it cannot be rotated; name another file", from.Name())
	}
	head := make([]byte, min(info.Size(), int64(len(lineStart))))
	tail := make([]byte, min(info.Size(), lineMost))
	_, headErr := from.ReadAt(head, 0)
	_, tailErr := from.ReadAt(tail, info.Size()-int64(len(tail)))
	if err := errors.Join(headErr, tailErr); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	last := bytes.LastIndexByte(tail, '\n')
	if !strings.HasPrefix(lineStart, string(head)) || last < 0 && info.Size() > lineMost {
		return 0, fmt.Errorf("%q is not a turn log; name another file", from.Name())
	}
	return info.Size() - int64(len(tail)) + int64(last) + 1, nil
}

func (f *file) close() {
	if f.to != nil {
		_ = f.to.Close() // nothing is left to write
		f.to = nil
	}
}

// hasName reports whether the open file is still the one at its path. Lines in a removed file are lost.
func (f *file) hasName() bool {
	open, openErr := f.to.Stat()
	named, err := os.Stat(f.path)
	return openErr == nil && err == nil && os.SameFile(open, named)
}

// write writes complete lines or nothing. It rotates the file first if they do not fit or need a new one.
func (f *file) write(lines []byte) (rotated bool, err error) {
	if f.to != nil && !f.hasName() {
		f.close() // opening it again creates it, or fails if its directory was removed
	}
	if f.to == nil {
		if err := f.open(); err != nil {
			return false, err
		}
	}
	if f.size > 0 && (f.ended || f.size+int64(len(lines)) > f.max) {
		if err := f.rotate(); err != nil {
			return false, err
		}
		rotated = true
	}
	n, err := f.to.Write(lines)
	if err != nil {
		// A reader must not find a partial line. Opening the file again cuts it off, too.
		if cut := f.to.Truncate(f.size); cut != nil {
			f.close()
		}
		return rotated, fmt.Errorf("writing the turn log: %w", err)
	}
	f.size += int64(n)
	return rotated, nil
}

// rotate renames the file by the time and starts a new one.
func (f *file) rotate() error {
	f.close()
	if err := os.Rename(f.path, f.olderPath(time.Now().Round(0))); err != nil {
		return fmt.Errorf("rotating the turn log: %w", err)
	}
	f.ended = false
	return f.open()
}

// olderPath returns the path of the older file that ends at a time. Names sort by age, so a file that
// does not end after the last one, because the clock was set back, gets the next free millisecond,
// even if a removed file had it.
func (f *file) olderPath(at time.Time) string {
	stem, ext := f.stem()
	if earliest := f.rotated.Add(time.Millisecond); at.Before(earliest) {
		at = earliest
	}
	for ; ; at = at.Add(time.Millisecond) {
		path := stem + at.UTC().Format(stamp) + ext
		_, err := os.Lstat(path)
		_, packedErr := os.Lstat(path + packed)
		if err != nil && packedErr != nil {
			f.rotated = at
			return path
		}
	}
}

// stem returns the common beginning and end of the names of older files.
func (f *file) stem() (stem, ext string) {
	ext = filepath.Ext(f.path)
	return strings.TrimSuffix(f.path, ext) + "-", ext
}

// older returns the paths of the older files, oldest first.
func (f *file) older() ([]string, error) {
	stem, ext := f.stem()
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return nil, fmt.Errorf("listing the older turn logs: %w", err)
	}
	var all []string
	for _, e := range entries {
		at, ours := strings.CutPrefix(e.Name(), filepath.Base(stem))
		at, zipped := strings.CutSuffix(strings.TrimSuffix(at, packed), ext)
		if _, err := time.Parse(stamp, at); ours && zipped && err == nil {
			all = append(all, filepath.Join(filepath.Dir(f.path), e.Name()))
		}
	}
	slices.Sort(all)
	return all, nil
}

// continueNames makes the next older file sort after those of earlier processes. Without a list of them
// it does nothing; pack reports the error.
func (f *file) continueNames() {
	if all, _ := f.older(); len(all) > 0 {
		stem, ext := f.stem()
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(all[len(all)-1]), packed), ext)
		f.rotated, _ = time.Parse(stamp, strings.TrimPrefix(name, filepath.Base(stem)))
	}
}

// pack compresses the older files that are not compressed yet, and removes the oldest ones.
func (f *file) pack() error {
	all, err := f.older()
	if err != nil {
		return err
	}
	var errs []error
	for i, path := range all {
		switch {
		case i < len(all)-f.keep:
			errs = append(errs, os.Remove(path))
		case !strings.HasSuffix(path, packed):
			errs = append(errs, f.packOne(path))
		}
	}
	return errors.Join(errs...)
}

// packOne replaces a file by a compressed one. The new file gets its name when it is complete.
func (f *file) packOne(path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(f.path), atomicfile.TempPrefix+filepath.Base(f.path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(to.Name()) // fails after the rename, as it should
	z, err := turnlog.Compress(to)
	if err == nil {
		_, err = io.Copy(z, from)
		err = errors.Join(err, z.Close())
	}
	if err == nil {
		err = to.Sync()
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return fmt.Errorf("compressing %q: %w", path, err)
	}
	if err := os.Rename(to.Name(), path+packed); err != nil {
		return err
	}
	return os.Remove(path)
}
