package wire

import (
	"errors"
	"io"
	"net/http"
	"time"

	"synthetic/internal/probe/stream"
)

// Body is the body of a response. Each Read returns bytes of one arrival only.
// It is not safe for concurrent use.
type Body struct {
	x    *exchange
	src  io.ReadCloser // net/http's
	gzip *unzipper
	err  error // the answer to every further Read
}

var _ stream.Source = (*Body)(nil)

// newBody returns the body of resp. A response without a body lets go of its
// connection at once.
func newBody(x *exchange, resp *http.Response, reusable bool) *Body {
	b := &Body{x: x, src: resp.Body}
	if resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		b.finish(io.EOF)
		return b
	}
	if x.conn != nil {
		x.conn.follow(framingOf(resp), reusable)
	}
	zipped, err := encodingOf(resp.Header)
	if err != nil {
		b.finish(&Error{StepBody, err})
	}
	if zipped {
		b.gzip = &unzipper{src: plain{b}}
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed = -1, true
	}
	return b
}

// Arrival describes the bytes that the last Read returned; at the end of the
// body it is the arrival of the end.
func (b *Body) Arrival() stream.Arrival { return b.x.at }

// Received returns how many bytes came so far, counted as Trace.MaxBytes bounds
// them: all that the connection brought for this answer and what was
// decompressed; over a proxy or HTTP/2 only those of the body.
func (b *Body) Received() int64 { return b.x.received.Load() }

// Paced returns the longest wait for the pacer that the answer has met: by so
// much what arrived may have been dated late.
func (b *Body) Paced() time.Duration {
	if b.x.conn == nil {
		return 0
	}
	return time.Duration(b.x.conn.stamps.longest.Load())
}

// SetReadDeadline bounds the waits of Read; the zero time is no bound. Bytes
// that arrived before it are in time, however late they are read; a Read that
// fails for it is the last. It does nothing after the end of the body.
func (b *Body) SetReadDeadline(t time.Time) error {
	switch c := b.x.conn; {
	case b.err != nil:
	case c == nil:
		b.x.expireAt(t)
	case c.part != partNone: // or all of it is here
		return c.stamps.SetReadDeadline(t)
	}
	return nil
}

// Read reads what has arrived, waiting for the first byte. Its errors are
// io.EOF at the clean end and *Error for everything else: a body cut short
// wraps io.ErrUnexpectedEOF.
func (b *Body) Read(p []byte) (int, error) {
	if b.gzip == nil || b.err != nil && b.err != io.EOF {
		return b.readPlain(p)
	}
	n, err := b.gzip.Read(p)
	b.x.pacer.spend(costOfBytes(n))
	if err := b.x.receive(n); err != nil {
		return 0, b.fail(err)
	}
	var known *Error
	if err == nil || err == io.EOF || errors.As(err, &known) {
		return n, err
	}
	return n, b.fail(err)
}

// Close lets go of the connection. One that was not read to the end of the
// body is closed.
func (b *Body) Close() error {
	b.finish(&Error{StepBody, http.ErrBodyReadAfterClose})
	b.gzip = nil
	return nil
}

// plain is a Body as it is on the wire.
type plain struct{ *Body }

func (p plain) Read(b []byte) (int, error) { return p.readPlain(b) }

// readPlain reads the body before it is decompressed.
func (b *Body) readPlain(p []byte) (n int, err error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.x.conn == nil {
		n, err = b.src.Read(p)
		if over := b.x.receive(n); over != nil {
			err = over
		}
		b.x.readNow()
	} else {
		n, err = b.readArrived(p)
	}
	if err == nil {
		return n, nil
	}
	if err = b.fail(err); n > 0 {
		return n, nil // the error comes again
	}
	return 0, err
}

// readArrived waits for one byte, and reads beyond it what arrived with it.
// Asked for more, net/http's reader of chunks waits for the rest of a chunk, and
// keeps what it has.
func (b *Body) readArrived(p []byte) (n int, err error) {
	for want := max(b.x.avail, 1); want > 0 && n < len(p) && err == nil; want = b.x.avail {
		var m int
		m, err = b.src.Read(p[n:min(n+want, len(p))])
		n += m
		b.x.avail -= m
	}
	return n, err
}

// fail ends the body with err, and returns it as Read does.
func (b *Body) fail(err error) error {
	if err != io.EOF {
		err = b.x.failed(err)
	}
	b.finish(err)
	return err
}

// finish lets go of the connection, once: net/http keeps it after a clean end
// and closes it otherwise.
func (b *Body) finish(err error) {
	if b.err == nil {
		b.err = err
		b.src.Close()
		b.x.close()
	}
}
