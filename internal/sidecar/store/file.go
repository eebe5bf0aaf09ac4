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
	// rotated is the time in the name of the newest older file of this process.
	rotated time.Time
}

// open opens the file for appending. It cuts off a partial line that a crash left.
func (f *file) open() error {
	to, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the turn log: %w; its directory must exist and be writable", err)
	}
	size, err := wholeLines(to)
	if err == nil {
		err = to.Truncate(size)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("opening the turn log: %w", err), to.Close())
	}
	f.to, f.size = to, size
	return nil
}

// wholeLines returns the size of a file up to its last complete line. It fails for a file that
// is no log.
func wholeLines(from *os.File) (int64, error) {
	info, err := from.Stat()
	if err != nil {
		return 0, err
	}
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

// write writes complete lines or nothing. It rotates the file first if they do not fit.
func (f *file) write(lines []byte) (rotated bool, err error) {
	if f.to != nil && !f.hasName() {
		f.close() // opening it again creates it, or fails if its directory was removed
	}
	if f.to == nil {
		if err := f.open(); err != nil {
			return false, err
		}
	}
	if f.size > 0 && f.size+int64(len(lines)) > f.max {
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
	if err := os.Rename(f.path, f.olderPath(time.Now())); err != nil {
		return fmt.Errorf("rotating the turn log: %w", err)
	}
	return f.open()
}

// olderPath returns the path of the older file that ends at a time. Names sort by age, so a file of
// the same millisecond as the last one gets the next free one, even if a removed file had it.
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
