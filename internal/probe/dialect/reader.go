package dialect

import (
	"bytes"
	"fmt"
	"io"

	"synthetic/internal/probe/wire"
)

const (
	// smallBuffer holds several usual events. Thousands of waiting streams have one each.
	smallBuffer = 2 << 10
	// keptBuffer is the largest buffer that a stream keeps after a large event.
	keptBuffer = 64 << 10
	// maxEmptyReads is how often a source may return nothing before it counts as broken.
	maxEmptyReads = 100
	// maxStray bounds how much of a body is kept that is no event stream, in bytes.
	maxStray = 4 << 10
)

// TooLargeError means that an event or a line is larger than the limit of the Reader.
type TooLargeError struct{ Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the stream sent an event of more than %d bytes", e.Limit)
}

// Reader reads the events of one response body. It is not safe for concurrent use.
type Reader struct {
	src      Source
	decoder  Decoder
	maxEvent int
	lines    lines

	arrival      wire.Arrival // of the last bytes read
	hadEvent     bool         // the last read has already completed an event
	eventArrival wire.Arrival // of the last event
	err          error        // returned after the bytes before it

	payload    payload
	isDocument bool   // the body is one JSON text and not an event stream
	stray      []byte // the lines of a body that is no event stream, bounded
	started    bool   // there was a non-empty line
	hadAny     bool   // there was an event
	event      Event  // the last one
}

// payload is the content of the current event.
type payload struct {
	// data refers to the buffer of the lines or, after keep, to joined.
	data, joined []byte
	hasData      bool
	isError      bool // the event is named "error"
	// comment is the last comment of the event, which explains an error without data. It is bounded.
	comment []byte
}

// NewReader returns a Reader of the events of src. maxEvent limits a line and the payload of an event in bytes, and
// therefore the memory of the Reader: it buffers at most about two events.
func NewReader(src Source, decoder Decoder, maxEvent int) *Reader {
	return &Reader{src: src, decoder: decoder, maxEvent: maxEvent}
}

// Next returns the next event; the following call overwrites it. The error is io.EOF at the end of the
// body, a *TooLargeError, or an error of the source. After a timeout of the source, Next can be called
// again.
//
// If the body ends without the blank line after an event, the event still counts. A body that is one
// JSON text or another text instead of an event stream is one event: an Error if it is an error object,
// otherwise Malformed.
func (r *Reader) Next() (*Event, error) {
	for {
		for line, ok := r.lines.next(); ok; line, ok = r.lines.next() {
			complete, err := r.addLine(line)
			if err != nil {
				return nil, r.giveUp(err)
			}
			if complete {
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

// Close lets later Readers use the buffer. The last event and the Reader must not be used after it.
func (r *Reader) Close() { r.lines.close() }

// fill reads once from the source. It keeps io.EOF, and an error that comes with bytes, in r.err.
func (r *Reader) fill() error {
	if len(r.lines.pending()) > r.maxEvent+len(byteOrderMark) {
		return r.giveUp(r.tooLarge())
	}
	r.payload.keep()
	for range maxEmptyReads {
		n, err := r.src.Read(r.lines.space(r.maxEvent))
		if n > 0 {
			r.arrival, r.hadEvent = r.src.Arrival(), false
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

func (r *Reader) ended() (*Event, error) {
	if r.err != io.EOF {
		err := r.err
		if _, final := err.(*TooLargeError); !final {
			r.err = nil
		}
		return nil, err
	}
	if rest := r.lines.rest(); len(rest) > 0 {
		if _, err := r.addLine(rest); err != nil {
			return nil, r.giveUp(err)
		}
	}
	switch {
	case r.payload.begun():
		return r.complete(), nil
	case len(r.stray) > 0 && !r.hadAny:
		r.hadAny = true
		r.event = Event{Arrival: r.arrival, Kind: Malformed, Message: "not an event stream but " + describe(bytes.TrimSpace(r.stray))}
		return &r.event, nil
	}
	return nil, io.EOF
}

// giveUp makes all further calls of Next return err.
func (r *Reader) giveUp(err error) error {
	r.err, r.payload.hasData = err, false
	r.lines = lines{}
	return err
}

func (r *Reader) tooLarge() error { return &TooLargeError{Limit: r.maxEvent} }

// addLine adds a line without its end to the event. It returns true if the event is complete.
func (r *Reader) addLine(line []byte) (complete bool, err error) {
	if len(line) > r.maxEvent {
		return false, r.tooLarge()
	}
	if !r.started && len(line) > 0 {
		r.started = true
		r.isDocument = beginsJSON(line)
	}
	switch {
	case r.isDocument, len(line) > 0 && line[0] == '{': // some proxies write an error without "data:"
		return false, r.addData(line)
	case len(line) == 0:
		complete = r.payload.begun()
		if !complete {
			r.payload.comment = r.payload.comment[:0]
		}
		return complete, nil
	case line[0] == ':': // a comment, such as a keep-alive ping
		r.payload.comment = append(r.payload.comment[:0], line[1:min(len(line), 1+maxMessage)]...)
		return false, nil
	}
	return false, r.addField(line)
}

// beginsJSON reports whether a body starts with a JSON object or array instead of a field. Some servers
// answer errors with status 200, or do not know how to stream.
func beginsJSON(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	return len(line) > 0 && (line[0] == '{' || line[0] == '[')
}

func (r *Reader) addField(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		return r.addData(value)
	case "event":
		r.payload.isError = string(value) == "error"
	case "error": // of older versions of llama-server; the standard does not have it
		r.payload.isError = true
		return r.addData(value)
	case "id", "retry":
	default:
		if !r.hadAny && len(r.stray) < maxStray {
			r.stray = append(append(r.stray, line[:min(len(line), maxStray)]...), '\n')
		}
	}
	return nil
}

// addData adds a line to the payload. If there is only one line, which is usual, it is not copied.
func (r *Reader) addData(value []byte) error {
	if !r.payload.hasData {
		r.payload.data, r.payload.hasData = value, true
		return nil
	}
	if len(r.payload.data)+1+len(value) > r.maxEvent {
		return r.tooLarge()
	}
	r.payload.keep()
	r.payload.joined = append(append(r.payload.joined, '\n'), value...)
	r.payload.data = r.payload.joined
	return nil
}

// begun reports whether the event has anything.
func (p *payload) begun() bool { return p.hasData || p.isError }

// keep copies the payload from the read buffer before the next read overwrites it.
func (p *payload) keep() {
	if !p.hasData || len(p.joined) > 0 {
		return
	}
	p.joined = append(p.joined, p.data...)
	p.data = p.joined
}

// reset forgets the event, and a buffer that is too large to be kept.
func (p *payload) reset() {
	if cap(p.joined) > keptBuffer {
		p.joined = nil
	}
	*p = payload{joined: p.joined[:0], comment: p.comment[:0]}
}

func (r *Reader) complete() *Event {
	// Two reads with the same kernel timestamp have read one segment.
	sameSegment := r.eventArrival.Kernel && r.arrival.Kernel && r.arrival.At.Equal(r.eventArrival.At)
	ev := &r.event
	*ev = Event{Arrival: r.arrival, Coalesced: r.hadEvent || sameSegment}
	if !r.payload.hasData { // Dynamo explains an error without data in a comment
		r.payload.data = bytes.TrimSpace(r.payload.comment)
	}
	classify(ev, r.payload.data, r.payload.isError, r.decoder)
	if r.isDocument && ev.Kind != Error {
		ev.Kind, ev.Message = Malformed, "not an event stream but one JSON text: "+clip(r.payload.data)
	}
	r.hadEvent, r.hadAny, r.eventArrival = true, true, r.arrival
	r.stray, r.isDocument = nil, false
	r.payload.reset()
	return ev
}
