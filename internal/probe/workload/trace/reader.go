package trace

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// maxLine bounds one record's text.
	maxLine = 4 << 20
	// mostHeld records, and bytes of them, are read ahead to put them in order:
	// spans are written when they end.
	mostHeld, mostBytes = 2048, 32 << 20
)

// Options say what of a file is read, and how.
type Options struct {
	// From and To cut the records that begin in From … To, To excluded, since the
	// first record; To 0 is the end. A session that began before From is left out
	// whole.
	From, To time.Duration
	// BlockTokens is what a name in hash_ids stands for, 0 for what the form says.
	BlockTokens int
}

// Reader gives the records of a trace in the order of their times.
type Reader struct {
	name  string
	opts  Options
	close func()
	from  source

	held  queue
	bytes int
	// open is a session that the next line may go on.
	open         *Record
	begun, ended bool
	count        uint64
	// first is the time of the first record, last that of the last one given.
	first, last time.Duration
	// timed is what the first record is, sessions those that came before or whose
	// turns are all there.
	timed    bool
	sessions *recent
}

// source reads the records of a form; those of one call come together. Its errors
// have the place.
type source interface{ read() ([]Record, error) }

// Open reads a file.
func Open(path string, o Options) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	r, err := NewReader(path, f, o)
	if err != nil {
		_ = f.Close() // of which nothing was wanted
		return nil, err
	}
	unpacked := r.close
	r.close = func() {
		unpacked()
		_ = f.Close()
	}
	return r, nil
}

// NewReader reads a trace of any form, plain or compressed by gzip or zstd. The
// name is for messages, which have the place, what is wrong, and the remedy.
func NewReader(name string, from io.Reader, o Options) (*Reader, error) {
	plain, closePlain, err := Decompress(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &Reader{name: name, opts: o, close: closePlain, sessions: newRecent()}
	b := bufio.NewReaderSize(plain, 64<<10)
	head, _ := b.Peek(512) // an error comes again
	parser := parser{o.BlockTokens, newRecent()}
	switch head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))); {
	case len(head) > 0 && head[0] == '[':
		a := &array{meter: meter{from: b}, parser: parser}
		a.decoder = json.NewDecoder(&a.meter)
		r.from = a
	case len(head) == 0 || head[0] == '{':
		l := &lines{scanner: bufio.NewScanner(b), parser: parser}
		l.scanner.Buffer(nil, maxLine)
		r.from = l
	default:
		if r.from, err = newTable(b); err != nil {
			closePlain()
			return nil, fmt.Errorf("%s, %w", name, err)
		}
	}
	return r, nil
}

// Close frees what reading took.
func (r *Reader) Close() { r.close() }

// Next returns the next record; io.EOF after the last.
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
		_, cut := r.sessions.get(rec.Session)
		switch {
		case r.opts.To > 0 && rec.At >= r.opts.To:
			return Record{}, io.EOF
		case early && rec.Session != "" && !cut:
			r.sessions.put(rec.Session, "")
		case !early && (rec.Session == "" || !cut || rec.delta):
			rec.At -= r.opts.From
			return rec, nil
		}
	}
}

// pop takes the earliest of the records that are held.
func (r *Reader) pop() (Record, error) {
	for !r.ended && len(r.held) < mostHeld && r.bytes < mostBytes {
		if err := r.fill(); err != nil {
			return Record{}, fmt.Errorf("%s, %w", r.name, err)
		}
	}
	if len(r.held) == 0 {
		if r.count == 0 {
			return Record{}, fmt.Errorf("%s: the trace has no records; docs/how-to/traces.md has the forms that are read", r.name)
		}
		return Record{}, io.EOF
	}
	rec := heap.Pop(&r.held).(Record)
	r.bytes -= rec.size()
	if !r.begun {
		r.begun, r.first = true, rec.At
	}
	r.last = rec.At
	return rec, nil
}

// fill reads what comes next, and holds it once it is whole.
func (r *Reader) fill() error {
	all, err := r.from.read()
	if errors.Is(err, io.EOF) {
		r.ended = true
		return r.settle()
	}
	if err != nil {
		return err
	}
	for i := range all {
		next := &all[i]
		if r.open != nil && next.delta && next.Session == r.open.Session {
			r.follow(next)
			continue
		}
		if err := r.settle(); err != nil {
			return err
		}
		if r.open = next; !next.delta {
			if err := r.settle(); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow adds the turn of a session to those before it. One that has a time and no
// pause comes as long after the turn before as the times say.
func (r *Reader) follow(next *Record) {
	turn := next.Turns[0]
	if turn.After == 0 && next.timed {
		turn.After = max(next.At-r.open.latest, 0)
	}
	r.open.latest = max(next.At, r.open.latest)
	r.open.Turns = append(r.open.Turns, turn)
}

// settle holds the open record.
func (r *Reader) settle() error {
	rec := r.open
	if r.open = nil; rec == nil {
		return nil
	}
	if r.count == 0 {
		r.timed = rec.timed
	}
	if rec.timed != r.timed {
		return fmt.Errorf("record %d: some records have a time and others have none; give all of them one, or none", r.count+1)
	}
	if rec.delta {
		if _, again := r.sessions.get(rec.Session); again {
			return fmt.Errorf("record %d: turns of session %.40q stand apart; sort the file by session, those in the order of their first turns", r.count+1, rec.Session)
		}
		r.sessions.put(rec.Session, "")
	}
	if rec.timed && rec.At < r.last {
		return fmt.Errorf("record %d: it came %s earlier than one that stands more than %d records before it; sort the file by time", r.count+1, (r.last - rec.At).Round(time.Millisecond), mostHeld)
	}
	r.count++
	rec.number = r.count
	r.bytes += rec.size()
	heap.Push(&r.held, *rec)
	return nil
}

// lines reads JSON Lines.
type lines struct {
	scanner *bufio.Scanner
	parser  parser
	number  int
}

func (l *lines) read() ([]Record, error) {
	for l.scanner.Scan() {
		l.number++
		line := bytes.TrimSpace(bytes.TrimPrefix(l.scanner.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		all, err := l.parser.parse(line)
		if err != nil {
			err = fmt.Errorf("line %d: %w", l.number, err)
		}
		return all, err
	}
	switch err := l.scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: %w", l.number+1, errTooLong)
	case err != nil:
		return nil, fmt.Errorf("line %d: reading it: %w; take a whole copy of the file", l.number+1, err)
	}
	return nil, io.EOF
}

var errTooLong = fmt.Errorf("the record is longer than %d MiB; leave it out", maxLine>>20)

// array reads one array of JSON objects.
type array struct {
	meter
	decoder *json.Decoder
	parser  parser
	number  int
}

func (a *array) read() ([]Record, error) {
	a.taken = 0
	if a.number++; a.number == 1 {
		if _, err := a.decoder.Token(); err != nil { // the bracket
			return nil, a.wrong(err)
		}
	}
	if !a.decoder.More() {
		if _, err := a.decoder.Token(); err != nil {
			return nil, a.wrong(err)
		}
		return nil, io.EOF
	}
	var element json.RawMessage
	if err := a.decoder.Decode(&element); err != nil {
		return nil, a.wrong(err)
	}
	all, err := a.parser.parse(element)
	if err != nil {
		err = fmt.Errorf("element %d: %w", a.number, err)
	}
	return all, err
}

func (a *array) wrong(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("element %d: %w; take a whole copy of the file", a.number, err)
}

// meter ends a record that does not end.
type meter struct {
	from  io.Reader
	taken int // bytes since the record's begin
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.taken > maxLine {
		return 0, errTooLong
	}
	n, err := m.from.Read(p)
	m.taken += n
	return n, err
}

// queue is a heap of records by time; those of one time in their order.
type queue []Record

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].At < q[j].At || q[i].At == q[j].At && q[i].number < q[j].number
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(Record)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = Record{}
	*q = old[:len(old)-1]
	return last
}
