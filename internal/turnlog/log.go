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

// Log is one log in several files, of which each is in order.
type Log struct {
	parts []part
	spool string // "" unless what can be read but once was copied
}

// part is one file.
type part struct {
	name, path string
	first      time.Time
}

// Open opens files: plain, or compressed by gzip or zstd. What can be read but
// once (a pipe, or "-" for stdin) is copied to a temporary file, for a replay
// reads twice. It reads the beginning of each. Close it after use.
func Open(paths []string, stdin io.Reader) (*Log, error) {
	l := &Log{}
	for _, path := range paths {
		if err := l.add(path, stdin); err != nil {
			l.Close()
			return nil, err
		}
	}
	if len(l.parts) == 0 {
		l.Close()
		return nil, fmt.Errorf("there is no turn in %q; name files that \"synthetic run --turns.file\" wrote", paths)
	}
	slices.SortStableFunc(l.parts, func(a, b part) int { return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.path, b.path)) })
	return l, nil
}

// Close removes the copies.
func (l *Log) Close() {
	if l.spool != "" {
		_ = os.RemoveAll(l.spool)
	}
}

// add takes a file; one without any turn is left out.
func (l *Log) add(path string, stdin io.Reader) error {
	p := part{name: path, path: path}
	if path == "-" {
		p.name = "stdin"
	}
	info, err := os.Stat(path)
	if path != "-" && err != nil {
		return fmt.Errorf("a log of turns: %w", err)
	}
	if path == "-" || !info.Mode().IsRegular() {
		if p.path, err = l.copied(path, stdin); err != nil {
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
	p.first = r.turn.At
	l.parts = append(l.parts, p)
	return nil
}

// copied returns the path of a copy of what can be read but once.
func (l *Log) copied(path string, stdin io.Reader) (string, error) {
	if l.spool == "" {
		var err error
		if l.spool, err = os.MkdirTemp("", "synthetic-turns"); err != nil {
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
	to, err := os.CreateTemp(l.spool, "")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	return to.Name(), errors.Join(err, to.Close())
}

// open opens a file at its first turn; io.EOF if there is none.
func (p part) open() (*opened, error) {
	file, err := os.Open(p.path)
	if err != nil {
		return nil, fmt.Errorf("a log of turns: %w", err)
	}
	r, err := NewReader(p.name, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	o := &opened{reader: r, file: file}
	if o.turn, err = r.Next(); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// opened is a file that is read, and its next turn.
type opened struct {
	reader *Reader
	file   *os.File
	turn   *Turn
}

func (o *opened) close() {
	o.reader.Close()
	_ = o.file.Close() // it was only read
}

// Merged reads the turns of a log in order of when they were sent.
type Merged struct {
	waiting []part
	open    []*opened
	// last is the file whose turn was given last.
	last *opened
}

// Read reads the log from its beginning. A file is open from its first turn to
// its last. Close it after use.
func (l *Log) Read() *Merged { return &Merged{waiting: l.parts} }

// Next returns the next turn, good until the one after; io.EOF after the last.
func (m *Merged) Next() (*Turn, error) {
	if err := m.advance(); err != nil {
		return nil, err
	}
	for len(m.waiting) > 0 && (len(m.open) == 0 || !m.earliest().turn.At.Before(m.waiting[0].first)) {
		o, err := m.waiting[0].open()
		if errors.Is(err, io.EOF) { // it had turns when it was opened first
			err = fmt.Errorf("%s: it became empty while it was read: %w", m.waiting[0].name, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, err
		}
		m.waiting = m.waiting[1:]
		m.open = append(m.open, o)
	}
	if len(m.open) == 0 {
		return nil, io.EOF
	}
	m.last = m.earliest()
	return m.last.turn, nil
}

// earliest is the open file whose next turn was sent first.
func (m *Merged) earliest() *opened {
	return slices.MinFunc(m.open, func(a, b *opened) int { return a.turn.At.Compare(b.turn.At) })
}

// advance goes past the turn that was given last.
func (m *Merged) advance() (err error) {
	if m.last == nil {
		return nil
	}
	given := m.last
	m.last = nil
	if given.turn, err = given.reader.Next(); errors.Is(err, io.EOF) {
		given.close()
		m.open = slices.DeleteFunc(m.open, func(o *opened) bool { return o == given })
		return nil
	}
	return err
}

// Close closes the files.
func (m *Merged) Close() {
	for _, o := range m.open {
		o.close()
	}
	m.open, m.waiting, m.last = nil, nil, nil
}
