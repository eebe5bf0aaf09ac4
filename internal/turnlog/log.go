package turnlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Log is a turn log that consists of several files.
type Log struct{ files []logFile }

// logFile is one file of a log. firstAt is the time of its first turn.
type logFile struct {
	path    string
	firstAt time.Time
}

// Open opens plain, gzip or zstd files and reads the first turn of each. Files without turns are
// omitted.
func Open(paths []string) (*Log, error) {
	l := &Log{}
	for _, path := range paths {
		f := logFile{path: path}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("opening the turn log: %w", err)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a regular file; write the turns to a file, because they are read twice", path)
		}
		o, err := f.open()
		if errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f.firstAt = o.turn.At
		o.close()
		l.files = append(l.files, f)
	}
	if len(l.files) == 0 {
		return nil, fmt.Errorf("there is no turn in %q; name files that \"synthetic run --turns.file\" wrote", paths)
	}
	slices.SortStableFunc(l.files, func(a, b logFile) int {
		return cmp.Or(a.firstAt.Compare(b.firstAt), cmp.Compare(a.path, b.path))
	})
	return l, nil
}

// open opens a file and reads its first turn. It returns io.EOF if there is none.
func (f logFile) open() (*openFile, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("opening the turn log: %w", err)
	}
	r, err := NewReader(f.path, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	o := &openFile{reader: r, file: file}
	if o.turn, err = r.Next(); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// openFile is an open file with the next turn to return.
type openFile struct {
	reader *Reader
	file   *os.File
	turn   *Turn
}

func (o *openFile) close() {
	o.reader.Close()
	_ = o.file.Close() // it was only read
}

// Merged reads the turns of all files of a log, ordered by time.
type Merged struct {
	unopened []logFile
	open     []*openFile
	// current is the file of the turn that Next returned last.
	current *openFile
}

// Read starts at the first turn. It opens each file when its first turn is due. The caller must
// Close the result.
func (l *Log) Read() *Merged { return &Merged{unopened: l.files} }

// Next returns the next turn, or io.EOF. The turn is valid until the next call.
func (m *Merged) Next() (*Turn, error) {
	if err := m.advance(); err != nil {
		return nil, err
	}
	for len(m.unopened) > 0 && (len(m.open) == 0 || !m.earliest().turn.At.Before(m.unopened[0].firstAt)) {
		o, err := m.unopened[0].open()
		if errors.Is(err, io.EOF) { // the file had a turn when the log was opened
			err = fmt.Errorf("%s: it became empty while it was read: %w", m.unopened[0].path, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
		m.unopened = m.unopened[1:]
		m.open = append(m.open, o)
	}
	if len(m.open) == 0 {
		return nil, io.EOF
	}
	m.current = m.earliest()
	return m.current.turn, nil
}

// earliest returns the open file with the earliest next turn.
func (m *Merged) earliest() *openFile {
	return slices.MinFunc(m.open, func(a, b *openFile) int { return a.turn.At.Compare(b.turn.At) })
}

// advance reads the next turn of the current file.
func (m *Merged) advance() (err error) {
	if m.current == nil {
		return nil
	}
	current := m.current
	m.current = nil
	if current.turn, err = current.reader.Next(); errors.Is(err, io.EOF) {
		current.close()
		m.open = slices.DeleteFunc(m.open, func(o *openFile) bool { return o == current })
		return nil
	}
	return err
}

func (m *Merged) Close() {
	for _, o := range m.open {
		o.close()
	}
	m.open, m.unopened, m.current = nil, nil, nil
}
