package turnlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"synthetic/internal/probe/workload/trace"
)

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 10

// Reader reads the turns of one log in order of when they were sent. It holds
// those of Slack in memory.
type Reader struct {
	name    string
	lines   *bufio.Reader
	close   func()
	decoder *decoder
	line    int
	// held are turns in order, from the index next on; newest is the time of the
	// latest of all.
	held   []Turn
	next   int
	newest time.Time
	ended  bool
}

// NewReader reads a log, plain or compressed by gzip or zstd, which it tells by
// its first bytes. The name is for messages.
func NewReader(name string, r io.Reader) (*Reader, error) {
	plain, closePlain, err := trace.Decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Reader{name: name, lines: bufio.NewReaderSize(plain, maxLine), close: closePlain, decoder: newDecoder()}, nil
}

// Close frees what reading took. It does not close what is read.
func (r *Reader) Close() { r.close() }

// Next returns the next turn, good until the one after; io.EOF after the last.
func (r *Reader) Next() (*Turn, error) {
	for !r.ended && (r.next == len(r.held) || r.newest.Sub(r.held[r.next].At) < Slack) {
		t, err := r.read()
		switch {
		case errors.Is(err, io.EOF):
			r.ended = true
		case err != nil:
			return nil, err
		default:
			r.hold(t)
		}
	}
	if r.next == len(r.held) {
		return nil, io.EOF
	}
	r.next++
	return &r.held[r.next-1], nil
}

// Next gives one turn after the other, each good until the next; io.EOF after the last.
type Next func() (*Turn, error)

// Each hands every turn to do, until that fails.
func (next Next) Each(do func(*Turn) error) error {
	for {
		t, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(t)
		}
		if err != nil {
			return err
		}
	}
}

// NextLine returns the turn of the next line, whatever its order, and holds none:
// for who counts. It is good until the one after; io.EOF after the last.
func (r *Reader) NextLine() (*Turn, error) { return r.read() }

// hold puts a turn among those that are held, after others of the same time.
func (r *Reader) hold(t *Turn) {
	if t.At.After(r.newest) {
		r.newest = t.At
	}
	if len(r.held) == cap(r.held) && r.next > len(r.held)/2 {
		r.held = r.held[:copy(r.held, r.held[r.next:])]
		r.next = 0
	}
	r.held = append(r.held, *t)
	for i := len(r.held) - 1; i > r.next && r.held[i].At.Before(r.held[i-1].At); i-- {
		r.held[i], r.held[i-1] = r.held[i-1], r.held[i]
	}
}

// read returns the turn of the next line that has one.
func (r *Reader) read() (*Turn, error) {
	for {
		line, err := r.lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, r.unreadable(err)
		}
		if len(line) == 0 {
			return nil, io.EOF
		}
		r.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		t, err := r.decoder.decode(line)
		if err == nil && r.newest.Sub(t.At) > Slack {
			err = fmt.Errorf("the turn was sent at %s, %s earlier than one before it; sort the log by \"at\", or give each of its parts as a file of its own",
				t.At.Format(time.RFC3339Nano), r.newest.Sub(t.At).Round(time.Second))
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", r.name, r.line, err)
		}
		return t, nil
	}
}

// unreadable says why a line could not be read.
func (r *Reader) unreadable(err error) error {
	if errors.Is(err, bufio.ErrBufferFull) {
		err = fmt.Errorf("it is longer than %d bytes; a turn has some hundred", maxLine)
	} else {
		err = fmt.Errorf("reading it: %w; take a whole copy of the file", err)
	}
	return fmt.Errorf("%s, line %d: %w", r.name, r.line+1, err)
}
