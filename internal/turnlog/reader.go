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

const maxLine = 64 << 10

// Reader reads the turns of one file, ordered by time. It buffers the turns of one Slack.
type Reader struct {
	name    string
	lines   *bufio.Reader
	close   func()
	decoder *decoder
	line    int
	// buffer holds turns ordered by time; next is the index of the next one to return. newest
	// is the latest time read so far.
	buffer []Turn
	next   int
	newest time.Time
	ended  bool
}

// NewReader reads a plain, gzip or zstd log. The name is for error messages.
func NewReader(name string, r io.Reader) (*Reader, error) {
	plain, closePlain, err := trace.Decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Reader{name: name, lines: bufio.NewReaderSize(plain, maxLine), close: closePlain, decoder: newDecoder()}, nil
}

// Close frees the decompressor. It does not close the underlying reader.
func (r *Reader) Close() { r.close() }

// Next returns the next turn, or io.EOF. The turn is valid until the next call.
func (r *Reader) Next() (*Turn, error) {
	for !r.ended && (r.next == len(r.buffer) || r.newest.Sub(r.buffer[r.next].At) < Slack) {
		t, err := r.NextLine()
		switch {
		case errors.Is(err, io.EOF):
			r.ended = true
		case err != nil:
			return nil, err
		default:
			r.insert(t)
		}
	}
	if r.next == len(r.buffer) {
		return nil, io.EOF
	}
	r.next++
	return &r.buffer[r.next-1], nil
}

// Next is a function that returns one turn after the other, then io.EOF. Each turn is valid
// until the next call.
type Next func() (*Turn, error)

// Each calls do for every turn, until an error.
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

// insert inserts a turn into the buffer, after other turns with the same time.
func (r *Reader) insert(t *Turn) {
	if t.At.After(r.newest) {
		r.newest = t.At
	}
	if len(r.buffer) == cap(r.buffer) && r.next > len(r.buffer)/2 {
		r.buffer = r.buffer[:copy(r.buffer, r.buffer[r.next:])]
		r.next = 0
	}
	r.buffer = append(r.buffer, *t)
	for i := len(r.buffer) - 1; i > r.next && r.buffer[i].At.Before(r.buffer[i-1].At); i-- {
		r.buffer[i], r.buffer[i-1] = r.buffer[i-1], r.buffer[i]
	}
}

// NextLine returns the turn of the next line without sorting or buffering, or io.EOF. It is for
// callers that only count turns. The turn is valid until the next call.
func (r *Reader) NextLine() (*Turn, error) {
	for {
		line, err := r.lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, r.lineError(err)
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
			err = fmt.Errorf("the turn was sent at %s, %s earlier than a turn before it; sort the log by \"at\", or pass its parts as separate files",
				t.At.Format(time.RFC3339Nano), r.newest.Sub(t.At).Round(time.Second))
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", r.name, r.line, err)
		}
		return t, nil
	}
}

// lineError adds the line number and a remedy to a read error.
func (r *Reader) lineError(err error) error {
	if errors.Is(err, bufio.ErrBufferFull) {
		err = fmt.Errorf("it is longer than %d bytes; a turn takes a few hundred", maxLine)
	} else {
		err = fmt.Errorf("reading it: %w; copy the complete file", err)
	}
	return fmt.Errorf("%s, line %d: %w", r.name, r.line+1, err)
}
