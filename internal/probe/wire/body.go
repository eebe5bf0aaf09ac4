package wire

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"

	"synthetic/internal/probe/stream"
)

// Body is the body of a response. Each Read returns bytes of one arrival only.
// It is not safe for concurrent use.
type Body struct {
	client  *Client
	ctx     context.Context
	resp    *http.Response
	conn    *conn   // nil once the body let go of it
	framing framing // nil if there is no body
	rest    []byte  // came with the headers
	at      stream.Arrival
	reuse   bool // the connection may carry another request
	gzip    *unzipper
	err     error // the answer to every further Read
}

var _ stream.Source = (*Body)(nil)

// newBody returns the body of resp, of which rest is read already. A response
// without a body lets go of its connection at once.
func newBody(c *Client, conn *conn, r *http.Request, resp *http.Response, rest []byte, at stream.Arrival, reuse bool) *Body {
	b := &Body{
		client: c, ctx: r.Context(), resp: resp, conn: conn,
		framing: framingOf(r, resp, c.options.MaxHeaderBytes),
		rest:    rest, at: at,
		reuse: reuse && resp.StatusCode != http.StatusSwitchingProtocols,
	}
	if b.framing == nil {
		b.reuse = b.reuse && len(rest) == 0
		b.finish(io.EOF)
		return b
	}
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		b.gzip = &unzipper{src: plain{b}}
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed = -1, true
	}
	return b
}

// Arrival describes the bytes that the last Read returned; at the end of the
// body it is the arrival of the end.
func (b *Body) Arrival() stream.Arrival { return b.at }

// SetReadDeadline bounds the waits of Read; the zero time is no bound. A Read
// that fails for it may be repeated with a new deadline, except of a gzip
// body. It does nothing after the end of the body.
func (b *Body) SetReadDeadline(t time.Time) error {
	if b.conn == nil {
		return nil
	}
	return b.conn.setReadDeadline(t)
}

// Read reads what has arrived, waiting for the first byte. Its errors are
// io.EOF at the clean end and *Error for everything else: a body cut short
// wraps io.ErrUnexpectedEOF.
func (b *Body) Read(p []byte) (int, error) {
	if b.gzip == nil || b.conn == nil && b.err != io.EOF {
		return b.readPlain(p)
	}
	n, err := b.gzip.Read(p)
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
func (b *Body) readPlain(p []byte) (int, error) {
	for b.err == nil && len(p) > 0 {
		raw, err := b.readConn(p[:b.framing.want(len(p))])
		if err != nil {
			return 0, b.fail(err)
		}
		n, used, done, err := b.framing.decode(p[:raw])
		if err != nil {
			return n, b.fail(err)
		}
		if done {
			// What follows the body unasked spoils the connection.
			b.reuse = b.reuse && used == raw && len(b.rest) == 0
			err = b.end()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, b.err
}

// readConn reads what came with the headers, then the connection.
func (b *Body) readConn(p []byte) (int, error) {
	if len(b.rest) > 0 {
		n := copy(p, b.rest)
		if b.rest = b.rest[n:]; len(b.rest) == 0 {
			b.rest = nil
		}
		return n, nil
	}
	n, err := b.conn.Read(p)
	b.at = b.conn.stamps.arrival()
	if n > 0 {
		return n, nil // the error comes again
	}
	if err == io.EOF {
		err = b.framing.eof()
	}
	return 0, err
}

// end takes the body as complete. It returns an error only for bad trailers;
// io.EOF comes with the next Read.
func (b *Body) end() error {
	if c, ok := b.framing.(*chunked); ok {
		fields, err := c.fields()
		if err != nil {
			return b.fail(err)
		}
		if b.resp.Trailer == nil {
			b.resp.Trailer = fields
		} else {
			maps.Copy(b.resp.Trailer, fields)
		}
	}
	b.finish(io.EOF)
	return nil
}

// fail returns err as Read returns it, and ends the body unless a deadline may
// be set anew.
func (b *Body) fail(err error) error {
	if err == io.EOF { // of a body that lasts until the connection closes
		b.reuse = false
		b.finish(io.EOF)
		return io.EOF
	}
	failed := failure(b.ctx, StepBody, err)
	if b.ctx.Err() != nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		b.finish(failed)
	}
	return failed
}

// finish lets go of the connection, once: back to the pool after a clean end
// (io.EOF), closed otherwise.
func (b *Body) finish(err error) {
	if b.conn == nil {
		return
	}
	conn := b.conn
	b.err, b.conn, b.rest = err, nil, nil
	if conn.release() && b.reuse && err == io.EOF && conn.SetDeadline(time.Time{}) == nil {
		b.client.idle.put(conn)
		return
	}
	conn.abort()
}
