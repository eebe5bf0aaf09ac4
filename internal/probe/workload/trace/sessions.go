package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"synthetic/internal/atomicfile"
)

// maxElement bounds the size of one request of a session, maxSession the memory of a session.
const maxElement, maxSession = 16 << 20, 64 << 20

// hasSessions reports whether a file begins with an object that is a whole session: its first keys
// have a list of requests or of spans.
func hasSessions(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimLeft(head, "[ \t\r\n")))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for {
		key, err := d.Token()
		if key == "requests" || key == "spans" {
			t, err := d.Token()
			return err == nil && t == json.Delim('[')
		}
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return false
		}
	}
}

// sessionReader reads objects that are whole sessions: one for each line, a list, or a single one. It
// holds one request of the file, and what a session's requests do not share.
type sessionReader struct {
	limit    recordLimit
	lines    lineCounter
	decoder  *json.Decoder
	isArray  bool
	opened   bool // the bracket of a list was read
	line     int
	position string // within the line, for errors
}

func readSessions(r io.Reader, isArray bool) source {
	s := &sessionReader{isArray: isArray}
	s.limit = recordLimit{from: r, most: maxElement}
	s.lines.from = &s.limit
	s.decoder = json.NewDecoder(&s.lines)
	return s.read
}

func (s *sessionReader) read() ([]Record, error) {
	s.position = ""
	r, err := s.next()
	switch {
	case r != nil:
		return []Record{*r}, err
	case err == nil || err == io.EOF: // a session without requests, or the end
		return nil, err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w; copy the complete file", io.ErrUnexpectedEOF)
	}
	return nil, fmt.Errorf("line %d: %s%w", s.line, s.position, err)
}

func (s *sessionReader) next() (*Record, error) {
	if s.isArray && !s.opened {
		s.opened = true
		if _, err := s.decoder.Token(); err != nil {
			return nil, err
		}
	}
	if s.more() {
		r, err := s.session()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return r, err
	}
	_, err := s.decoder.Token()
	if s.isArray && err == nil { // the closing bracket
		return nil, io.EOF
	}
	if s.isArray && err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// more reports whether another value follows, whose line it notes.
func (s *sessionReader) more() bool {
	s.limit.readBytes = 0
	more := s.decoder.More()
	s.line = s.lines.at(s.decoder.InputOffset())
	return more
}

// session reads one object. It returns nil if no request of it can be replayed.
func (s *sessionReader) session() (*Record, error) {
	if t, err := s.decoder.Token(); err != nil || t != json.Delim('{') {
		return nil, cmp.Or(err, errors.New("a session is not a JSON object; write one per line, or an array of them"))
	}
	var w weka
	var spans spanSession
	for s.more() {
		key, err := s.decoder.Token()
		if err != nil {
			return nil, err
		}
		switch key {
		case "id", "trace_id", "session_id":
			err = s.decode(&w.ID)
		case "block_size":
			err = s.decode(&w.BlockSize)
		case "hash_id_scope":
			err = s.decode(&w.Scope)
		case "requests":
			w.found = true
			err = s.each("requests", func() error { return w.read(s) })
		case "spans":
			spans.found = true
			err = s.each("spans", func() error { return spans.read(s) })
		default:
			var skipped json.RawMessage
			err = s.decode(&skipped)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := s.decoder.Token(); err != nil { // the closing brace
		return nil, err
	}
	s.position = fmt.Sprintf("session %.40q: ", w.ID)
	g := &spans.graph
	switch {
	case w.found:
		if err := w.finish(); err != nil {
			return nil, err
		}
		g = &w.graph
	case spans.found:
		spans.finish()
	default:
		return nil, errors.New("it has neither requests nor spans; docs/how-to/traces.md lists the supported formats")
	}
	if len(g.steps) == 0 {
		return nil, nil
	}
	r, err := g.record(string(w.ID))
	if err != nil {
		return nil, err
	}
	r.At = 0 // the sessions of a corpus have no common clock
	return &r, nil
}

// each calls read for every element of a list.
func (s *sessionReader) each(key string, read func() error) error {
	outer := s.position
	if t, err := s.decoder.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(err, fmt.Errorf("%s is not a list; write one", key))
	}
	for i := 0; s.more(); i++ {
		s.position = fmt.Sprintf("%s%s[%d]: ", outer, key, i)
		if err := read(); err != nil {
			return err
		}
	}
	s.position = outer
	_, err := s.decoder.Token() // the closing bracket
	return err
}

func (s *sessionReader) decode(v any) error {
	return atomicfile.InJSONTerms("it", s.decoder.Decode(v))
}

// fits returns an error if a session has become too large.
func (g *graph) fits() error {
	if len(g.steps) > maxSteps || g.bytes > maxSession {
		return fmt.Errorf("the session has more than %d requests or %d MiB; leave it out", maxSteps, maxSession>>20)
	}
	return nil
}

// lineCounter passes text on and counts its lines.
type lineCounter struct {
	from     io.Reader
	offset   int64
	counted  int
	newlines []int64 // offsets behind the last query
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			l.newlines = append(l.newlines, l.offset+int64(i))
		}
	}
	l.offset += int64(n)
	return n, err
}

// at returns the line of an offset. Later offsets must not be smaller.
func (l *lineCounter) at(offset int64) int {
	n, _ := slices.BinarySearch(l.newlines, offset)
	l.counted += n
	l.newlines = l.newlines[n:]
	return l.counted + 1
}

// seconds converts a number of seconds. NaN and negative numbers are errors.
func seconds(key string, n float64) (time.Duration, error) { return scaleTime(key, n, time.Second) }
