package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

const (
	// maxLine bounds the size of one record.
	maxLine = 4 << 20
	// maxPending and maxPendingBytes bound how many records are read ahead to sort them by
	// time. Spans need this, because they are written when they end.
	maxPending, maxPendingBytes = 2048, 32 << 20
)

// Options select a part of the file.
type Options struct {
	// From and To select records by their time since the first record, To excluded. To 0 means
	// the end. A session that started before From is left out completely.
	From, To time.Duration
	// BlockTokens is the number of tokens of one block in hash_ids. 0 means the default of the
	// format.
	BlockTokens int
	// MaxPause shortens longer pauses between turns; 0 means no maximum.
	MaxPause time.Duration
}

// Reader returns the records of a trace, ordered by time.
type Reader struct {
	name   string
	opts   Options
	close  func()
	source source

	pending []Record
	bytes   int
	// openSession is a session that the next record may continue.
	openSession    *Record
	started, ended bool
	count          uint64
	// first and last are the times of the first and of the last returned record.
	first, last time.Duration
	// timed says whether records have a time. sessions holds the finished sessions and those
	// that started before From.
	timed    bool
	sessions *recent
}

// source returns one or more records of a file. Its errors name the position.
type source func() ([]Record, error)

// Open opens a trace: a file, or a folder whose files are read one after the other in the order of
// their names.
func Open(path string, o Options) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close() // as below
		return openFolder(path, o)
	}
	r, err := newReader(path, f, o)
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, err
	}
	closePlain := r.close
	r.close = func() {
		closePlain()
		_ = f.Close()
	}
	return r, nil
}

// newReader reads a trace in any format, plain, gzip or zstd. Errors contain the name, the
// position, the problem and the remedy.
func newReader(name string, from io.Reader, o Options) (*Reader, error) {
	plain, closePlain, err := Decompress(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := newParser(o)
	next, err := newSource(plain, p)
	if err != nil {
		closePlain()
		return nil, fmt.Errorf("%s, %w", name, err)
	}
	return &Reader{name: name, opts: o, close: closePlain, source: p.sessions.collect(next), sessions: newRecent()}, nil
}

// newSource reads plain text in the format of its first bytes.
func newSource(plain io.Reader, p *parser) (source, error) {
	b := bufio.NewReaderSize(plain, 64<<10)
	if bom, _ := b.Peek(3); string(bom) == "\ufeff" {
		_, _ = b.Discard(3) // they were read
	}
	head, _ := b.Peek(64 << 10) // the next read returns the error again
	head = bytes.TrimSpace(head)
	isArray := len(head) > 0 && head[0] == '['
	switch {
	case hasSessions(head):
		return readSessions(b, isArray), nil
	case isArray:
		return readArray(b, p), nil
	case len(head) == 0 || head[0] == '{':
		return readLines(b, p), nil
	}
	t, err := newTable(b)
	if err != nil {
		return nil, err
	}
	return t.read, nil
}

// Close closes the file.
func (r *Reader) Close() { r.close() }

// Next returns the next record, or io.EOF.
func (r *Reader) Next() (Record, error) {
	for {
		rec, err := r.pop()
		if err != nil {
			return rec, err
		}
		if !r.timed {
			return rec, nil
		}
		rec.At -= r.first
		early := rec.At < r.opts.From
		_, skipped := r.sessions.get(rec.Session)
		switch {
		case r.opts.To > 0 && rec.At >= r.opts.To:
			return Record{}, io.EOF
		case early && rec.Session != "" && !skipped:
			r.sessions.put(rec.Session, "")
		case !early && (rec.Session == "" || !skipped || rec.delta):
			rec.At -= r.opts.From
			return rec, nil
		}
	}
}

func (r *Reader) pop() (Record, error) {
	for !r.ended && len(r.pending) < maxPending && r.bytes < maxPendingBytes && !r.hasSession() {
		if err := r.readNext(); err != nil {
			return Record{}, fmt.Errorf("%s, %w", r.name, err)
		}
	}
	if len(r.pending) == 0 {
		if r.count == 0 {
			return Record{}, fmt.Errorf("%s: the file has no records; docs/how-to/traces.md lists the supported formats", r.name)
		}
		return Record{}, io.EOF
	}
	rec := r.pending[0]
	r.pending[0] = Record{}
	r.pending = r.pending[1:]
	r.bytes -= rec.size()
	if !r.started {
		r.started, r.first = true, rec.At
	}
	r.last = rec.At
	if r.opts.MaxPause > 0 {
		rec.limitPauses(r.opts.MaxPause)
	}
	return rec, nil
}

// hasSession reports whether a session is pending that came in the order of the times.
func (r *Reader) hasSession() bool { return len(r.pending) > 0 && r.pending[0].inOrder }

// readNext reads one or more records. A record that the next one cannot continue becomes
// pending.
func (r *Reader) readNext() error {
	all, err := r.source()
	if errors.Is(err, io.EOF) {
		r.ended = true
		return r.closeSession()
	}
	if err != nil {
		return err
	}
	for i := range all {
		next := &all[i]
		if r.openSession != nil && next.delta && next.Session == r.openSession.Session {
			r.appendTurn(next)
			continue
		}
		if err := r.closeSession(); err != nil {
			return err
		}
		if r.openSession = next; !next.delta {
			if err := r.closeSession(); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendTurn adds a turn to the open session. Without a recorded pause, the pause is the
// difference of the times.
func (r *Reader) appendTurn(next *Record) {
	turn := next.Turns[0]
	if turn.After == 0 && next.timed {
		turn.After = max(next.At-r.openSession.lastTurnAt, 0)
	}
	r.openSession.lastTurnAt = max(next.At, r.openSession.lastTurnAt)
	r.openSession.Turns = append(r.openSession.Turns, turn)
}

// closeSession makes the open session pending.
func (r *Reader) closeSession() error {
	rec := r.openSession
	if r.openSession = nil; rec == nil {
		return nil
	}
	if r.count == 0 {
		r.timed = rec.timed
	}
	if rec.timed != r.timed {
		return fmt.Errorf("record %d: some records have a time and others have none; give all of them one, or none", r.count+1)
	}
	if rec.delta {
		if _, duplicate := r.sessions.get(rec.Session); duplicate {
			return fmt.Errorf("record %d: the turns of session %.40q are not consecutive; sort the file by the first turn of each session", r.count+1, rec.Session)
		}
		r.sessions.put(rec.Session, "")
	}
	if rec.timed && rec.At < r.last {
		return fmt.Errorf("record %d: it is %s earlier than a record more than %d records before it; sort the file by time", r.count+1, (r.last - rec.At).Round(time.Millisecond), maxPending)
	}
	rec.detectWholePrompts()
	r.count++
	r.bytes += rec.size()
	i := len(r.pending)
	for i > 0 && r.pending[i-1].At > rec.At {
		i--
	}
	r.pending = slices.Insert(r.pending, i, *rec)
	return nil
}

// readLines reads JSON Lines.
func readLines(r io.Reader, p *parser) source {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	number := 0
	return func() ([]Record, error) {
		for scanner.Scan() {
			number++
			if line := bytes.TrimSpace(bytes.TrimPrefix(scanner.Bytes(), []byte("\ufeff"))); len(line) > 0 {
				return p.parse(line, "line", number)
			}
		}
		switch err := scanner.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return nil, fmt.Errorf("line %d: %w", number+1, tooLong(maxLine))
		case err != nil:
			return nil, fmt.Errorf("line %d: reading it: %w; copy the complete file", number+1, err)
		}
		return nil, io.EOF
	}
}

func tooLong(most int) error {
	return fmt.Errorf("the record is longer than %d MiB; leave it out", most>>20)
}

// readArray reads one JSON array of objects.
func readArray(r io.Reader, p *parser) source {
	limited := &recordLimit{from: r}
	decoder := json.NewDecoder(limited)
	number := 0
	return func() ([]Record, error) {
		limited.readBytes = 0
		number++
		element, err := nextElement(decoder, number == 1)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("element %d: %w; copy the complete file", number, err)
		case element == nil:
			return nil, io.EOF
		}
		return p.parse(element, "element", number)
	}
}

// nextElement returns nil after the last element.
func nextElement(decoder *json.Decoder, isFirst bool) (element json.RawMessage, err error) {
	if isFirst {
		if _, err := decoder.Token(); err != nil { // the opening bracket
			return nil, err
		}
	}
	if !decoder.More() {
		_, err := decoder.Token() // the closing bracket
		return nil, err
	}
	err = decoder.Decode(&element)
	return element, err
}

// recordLimit returns an error if one record is too long.
type recordLimit struct {
	from      io.Reader
	most      int // 0 means maxLine
	readBytes int // since the start of the record
}

func (m *recordLimit) Read(p []byte) (int, error) {
	if most := cmp.Or(m.most, maxLine); m.readBytes > most {
		return 0, tooLong(most)
	}
	n, err := m.from.Read(p)
	m.readBytes += n
	return n, err
}
