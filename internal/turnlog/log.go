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
type Log struct {
	files   []logFile
	copyDir string // "" if nothing had to be copied
}

// logFile is one file of a log. firstAt is the time of its first turn.
type logFile struct {
	name, path string
	firstAt    time.Time
}

// Open opens plain, gzip or zstd files and reads the first turn of each. A pipe, or "-" for
// stdin, is copied to a temporary file, because a replay reads the log twice. The caller must
// Close the log.
func Open(paths []string, stdin io.Reader) (*Log, error) {
	l := &Log{}
	for _, path := range paths {
		if err := l.add(path, stdin); err != nil {
			l.Close()
			return nil, err
		}
	}
	if len(l.files) == 0 {
		l.Close()
		return nil, fmt.Errorf("there is no turn in %q; name files that \"synthetic run --turns.file\" wrote", paths)
	}
	slices.SortStableFunc(l.files, func(a, b logFile) int {
		return cmp.Or(a.firstAt.Compare(b.firstAt), cmp.Compare(a.path, b.path))
	})
	return l, nil
}

// Close removes the temporary files.
func (l *Log) Close() {
	if l.copyDir != "" {
		_ = os.RemoveAll(l.copyDir)
	}
}

// add adds a file, unless it has no turn.
func (l *Log) add(path string, stdin io.Reader) error {
	p := logFile{name: path, path: path}
	if path == "-" {
		p.name = "stdin"
	}
	info, err := os.Stat(path)
	if path != "-" && err != nil {
		return fmt.Errorf("opening the turn log: %w", err)
	}
	if path == "-" || !info.Mode().IsRegular() {
		if p.path, err = l.makeCopy(path, stdin); err != nil {
			return fmt.Errorf("copying %s, which is read twice: %w", p.name, err)
		}
	}
	r, err := p.open()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.close()
	p.firstAt = r.turn.At
	l.files = append(l.files, p)
	return nil
}

// makeCopy copies stdin or a pipe to a temporary file and returns its path.
func (l *Log) makeCopy(path string, stdin io.Reader) (string, error) {
	if l.copyDir == "" {
		var err error
		if l.copyDir, err = os.MkdirTemp("", "synthetic-turns"); err != nil {
			return "", err
		}
	}
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		from = file
	}
	to, err := os.CreateTemp(l.copyDir, "")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	return to.Name(), errors.Join(err, to.Close())
}

// open opens a file and reads its first turn. It returns io.EOF if there is none.
func (p logFile) open() (*openFile, error) {
	file, err := os.Open(p.path)
	if err != nil {
		return nil, fmt.Errorf("opening the turn log: %w", err)
	}
	r, err := NewReader(p.name, file)
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
			err = fmt.Errorf("%s: it became empty while it was read: %w", m.unopened[0].name, io.ErrUnexpectedEOF)
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
