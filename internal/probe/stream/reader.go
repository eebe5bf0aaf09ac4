package stream

import (
	"bytes"
	"fmt"
	"io"
)

const (
	// defaultMaxEvent bounds an event where Options do not.
	defaultMaxEvent = 1 << 20
	// smallBuffer holds several usual events; thousands of streams wait with
	// one of these each.
	smallBuffer = 4 << 10
	// keptBuffer is what a stream keeps of a buffer that a large event grew.
	keptBuffer = 64 << 10
	// maxEmptyReads is how often a source may return nothing before it counts
	// as broken.
	maxEmptyReads = 100
)

// Options of a Reader; the zero value is usable.
type Options struct {
	// MaxEventBytes bounds a line and an event's payload, in bytes, and so the
	// memory of the Reader; 0 means 1 MiB.
	MaxEventBytes int
	// Decoder says what the events mean; nil is that of chat completions.
	Decoder Decoder
	// Lines says that each line of the body is an event, and no field names
	// stand before the payloads (NDJSON).
	Lines bool
	// Document says that a body that is one JSON text is no mistake.
	Document bool
}

// TooLargeError says that the stream holds an event or a line over the bound.
type TooLargeError struct {
	// Limit is Options.MaxEventBytes.
	Limit int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the stream sent an event of more than %d bytes", e.Limit)
}

// Reader reads the events of one response body. It is not safe for concurrent
// use.
type Reader struct {
	src   Source
	lines lines
	max   int

	arrival   Arrival // of the last bytes read
	completed bool    // the last read has completed an event already
	last      Arrival // of the last event
	err       error   // to return once the bytes before it are used up

	data     []byte // payload of the event so far: in lines, or in joined
	joined   []byte // payload of more than one line or read
	hasData  bool
	isError  bool // the event is called "error"
	document bool // the body is one JSON text, not an event stream
	begun    bool // a line that is not empty was seen
	bare     bool // Options.Lines
	whole    bool // Options.Document
	decoder  Decoder
	event    Event // the last one
}

// NewReader returns a Reader of src. It buffers at most about two events.
func NewReader(src Source, o Options) *Reader {
	if o.MaxEventBytes <= 0 {
		o.MaxEventBytes = defaultMaxEvent
	}
	if o.Decoder == nil {
		o.Decoder = NewChat()
	}
	return &Reader{src: src, max: o.MaxEventBytes, decoder: o.Decoder, bare: o.Lines, whole: o.Document}
}

// Next returns the next event, which the call after it overwrites. The error is io.EOF at the end of the body, a
// *TooLargeError for an event over the bound, or that of the source; after a
// timeout of the source Next may be called again.
//
// An event that the end of the body cuts off before its blank line is still an
// event. A body that is a JSON text instead of an event stream is one event,
// of Kind Error if it is an error object and Malformed otherwise.
func (r *Reader) Next() (*Event, error) {
	for {
		for line, ok := r.lines.next(); ok; line, ok = r.lines.next() {
			done, err := r.line(line)
			if err != nil {
				return nil, r.giveUp(err)
			}
			if done {
				return r.complete(), nil
			}
		}
		if r.err != nil {
			return r.ended()
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads once from the source. An error that comes with bytes, and the end
// of the body, wait in r.err.
func (r *Reader) fill() error {
	if len(r.lines.pending()) > r.max+len(byteOrderMark) {
		return r.giveUp(&TooLargeError{Limit: r.max})
	}
	r.keep()
	for range maxEmptyReads {
		n, err := r.src.Read(r.lines.space(r.max))
		if n > 0 {
			r.arrival, r.completed = r.src.Arrival(), false
			r.lines.add(n)
		}
		switch {
		case err == io.EOF || n > 0:
			r.err = err
			return nil
		case err != nil:
			return err
		}
	}
	return io.ErrNoProgress
}

// ended handles r.err when no whole line is left.
func (r *Reader) ended() (*Event, error) {
	if r.err != io.EOF {
		err := r.err
		if _, final := err.(*TooLargeError); !final {
			r.err = nil
		}
		return nil, err
	}
	if rest := r.lines.rest(); len(rest) > 0 {
		if _, err := r.line(rest); err != nil {
			return nil, r.giveUp(err)
		}
	}
	if !r.hasData {
		return nil, io.EOF
	}
	return r.complete(), nil
}

// giveUp makes err the answer to every later call.
func (r *Reader) giveUp(err error) error {
	r.err, r.hasData = err, false
	r.lines = lines{}
	return err
}

// line takes one line of the stream, without its end, and reports whether it
// completes an event.
func (r *Reader) line(line []byte) (bool, error) {
	if len(line) > r.max {
		return false, &TooLargeError{Limit: r.max}
	}
	if !r.begun && len(line) > 0 {
		r.begun = true
		r.document = !r.bare && beginsJSON(line)
	}
	switch {
	case r.bare:
		return len(line) > 0, r.appendLine(line)
	case r.document:
		return false, r.appendData(line)
	case len(line) == 0:
		r.isError = r.isError && r.hasData
		return r.hasData, nil
	case line[0] == ':': // a comment, such as a keep-alive ping
		return false, nil
	}
	return false, r.field(line)
}

// beginsJSON reports whether the first line of a body begins a JSON object or
// array. No field does: this is what a server sends that answers 200 and means
// an error, or does not know how to stream.
func beginsJSON(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && (line[0] == '{' || line[0] == '[')
}

func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		return r.appendData(value)
	case "event":
		r.isError = string(value) == "error"
	case "error":
		// Not of the standard, but an older llama-server says it this way.
		r.isError = true
		return r.appendData(value)
	}
	return nil
}

// appendData adds a line to the event's payload. One line, the usual case, is
// used where it stands.
func (r *Reader) appendData(value []byte) error {
	if !r.hasData {
		r.data, r.hasData = value, true
		return nil
	}
	if len(r.data)+1+len(value) > r.max {
		return &TooLargeError{Limit: r.max}
	}
	r.keep()
	r.joined = append(append(r.joined, '\n'), value...)
	r.data = r.joined
	return nil
}

// appendLine adds a line that is an event of its own.
func (r *Reader) appendLine(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	return r.appendData(line)
}

// keep moves the payload out of the read buffer, whose bytes are about to be
// overwritten.
func (r *Reader) keep() {
	if !r.hasData || len(r.joined) > 0 {
		return
	}
	r.joined = append(r.joined, r.data...)
	r.data = r.joined
}

// complete makes an event of the payload.
func (r *Reader) complete() *Event {
	// A kernel time that repeats says that one segment was read in two.
	again := r.last.Kernel && r.arrival.Kernel && r.arrival.At.Equal(r.last.At)
	ev := &r.event
	*ev = Event{Arrival: r.arrival, Coalesced: r.completed || again}
	classify(ev, r.data, r.isError, r.decoder)
	if r.document && !r.whole && ev.Kind != Error {
		ev.Kind, ev.Message = Malformed, "not an event stream but one JSON text: "+clip(r.data)
	}
	r.completed, r.last = true, r.arrival
	r.data, r.hasData, r.isError, r.document = nil, false, false, false
	if cap(r.joined) > keptBuffer {
		r.joined = nil
	}
	r.joined = r.joined[:0]
	return ev
}
