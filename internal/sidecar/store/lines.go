package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"synthetic/internal/atomicfile"
)

// Lines is a file of JSON lines that grows by appending, so that a killed process loses at most the line that
// it was writing. A file that would exceed its limit is replaced by the lines that are still needed.
type Lines struct {
	path string
	max  int64
	// size is the size of the file; unknown means that the next Save replaces the file.
	size int64
}

const unknown = -1

// ReadLines reads the complete lines of a file that may be missing. max limits the size of the file.
func ReadLines(path string, max int64) (l *Lines, text []byte, err error) {
	text, err = os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if err := atomicfile.RemoveStraysFor(path); err != nil {
		return nil, nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	l = &Lines{path: path, max: max, size: int64(len(whole))}
	if len(whole) < len(text) {
		l.size = unknown
	}
	return l, whole, nil
}

// Replace makes the next Save replace the file.
func (l *Lines) Replace() { l.size = unknown }

// Save appends lines(false), the new lines. It replaces the file by lines(true), all lines that are needed with the
// least important first, if the new ones do not fit, or if the last Save failed.
func (l *Lines) Save(lines func(all bool) []byte) error {
	if l.size != unknown {
		added := lines(false)
		if l.size+int64(len(added)) <= l.max {
			return l.append(added)
		}
	}
	all := lines(true)
	for half := int(l.max / 2); len(all) > half; {
		all = all[bytes.IndexByte(all, '\n')+1:]
	}
	l.size = unknown
	if err := atomicfile.Write(l.path, all, 0o600); err != nil {
		return err
	}
	l.size = int64(len(all))
	return nil
}

func (l *Lines) append(added []byte) error {
	if len(added) == 0 {
		return nil
	}
	size := l.size
	l.size = unknown // a write that fails may leave a part of a line
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(added)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	l.size = size + int64(len(added))
	return nil
}
