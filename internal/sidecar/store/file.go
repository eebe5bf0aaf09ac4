package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"synthetic/internal/atomicfile"
)

const (
	// stamp is the time format in the names of older files, which sort by it.
	stamp     = "20060102T150405.000000Z"
	lineStart = `{"at":"`
	// lineMost is the longest partial line that open looks for at the end of a file.
	lineMost = 64 << 10
)

// open opens the file for appending. It cuts off a partial line that a crash left. It fails for a file that is no log.
// The file is opened for each write, so that it may be moved or removed.
func (l *Log) open() (to *os.File, size int64, err error) {
	to, err = os.OpenFile(l.options.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the turn log: %w; its directory must exist and be writable", err)
	}
	info, err := to.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file, so it cannot be rotated; name another file")
	}
	if err == nil {
		size, err = wholeLines(to, info.Size())
	}
	if err == nil && size < info.Size() {
		err = to.Truncate(size)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("opening the turn log %q: %w", l.options.Path, err), to.Close())
	}
	return to, size, nil
}

// wholeLines returns the size of a file up to its last complete line.
func wholeLines(from *os.File, size int64) (int64, error) {
	head, tail := make([]byte, min(size, int64(len(lineStart)))), make([]byte, min(size, lineMost))
	_, headErr := from.ReadAt(head, 0)
	_, tailErr := from.ReadAt(tail, size-int64(len(tail)))
	if err := errors.Join(headErr, tailErr); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	last := bytes.LastIndexByte(tail, '\n')
	if !strings.HasPrefix(lineStart, string(head)) || last < 0 && size > lineMost {
		return 0, errors.New("the file is not a turn log; name another file")
	}
	return size - int64(len(tail)) + int64(last) + 1, nil
}

// appendLines writes complete lines or nothing. It rotates the file first if they do not fit.
func (l *Log) appendLines(lines []byte) error {
	to, size, err := l.open()
	if err == nil && size > 0 && size+int64(len(lines)) > l.options.MaxSize {
		if err = errors.Join(to.Close(), l.rotate()); err == nil {
			to, size, err = l.open()
		}
	}
	if err != nil {
		return err
	}
	if _, err = to.Write(lines); err != nil {
		err = errors.Join(fmt.Errorf("writing the turn log: %w", err), to.Truncate(size))
	}
	return errors.Join(err, to.Close())
}

// rotate renames the file by the time, compresses it, and removes the oldest files.
func (l *Log) rotate() error {
	ext := filepath.Ext(l.options.Path)
	stem := strings.TrimSuffix(l.options.Path, ext) + "-"
	older := stem + time.Now().UTC().Format(stamp) + ext
	if err := os.Rename(l.options.Path, older); err != nil {
		return fmt.Errorf("rotating the turn log: %w", err)
	}
	_ = compress(older) // without room, it stays as it is
	entries, err := os.ReadDir(filepath.Dir(l.options.Path))
	if err != nil {
		return fmt.Errorf("listing the older turn logs: %w", err)
	}
	var all []string // oldest first
	for _, e := range entries {
		at, ours := strings.CutPrefix(e.Name(), filepath.Base(stem))
		at, named := strings.CutSuffix(strings.TrimSuffix(at, ".zst"), ext)
		if _, err := time.Parse(stamp, at); ours && named && err == nil {
			all = append(all, filepath.Join(filepath.Dir(l.options.Path), e.Name()))
		}
	}
	for ; len(all) > l.options.Keep; all = all[1:] {
		err = errors.Join(err, os.Remove(all[0]))
	}
	return err
}

// compress replaces a file by a compressed one.
func compress(path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := atomicfile.Create(path+".zst", 0o600)
	if err != nil {
		return err
	}
	defer to.Cleanup()
	z, err := atomicfile.Compress(to)
	if err == nil {
		_, err = io.Copy(z, from)
		err = errors.Join(err, z.Close())
	}
	if err == nil {
		err = to.CloseAtomicallyReplace()
	}
	if err == nil {
		err = os.Remove(path)
	}
	return err
}
