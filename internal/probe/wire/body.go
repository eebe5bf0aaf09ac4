package wire

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Body is the body of a response. Each Read returns bytes of one arrival only. It is not safe for
// concurrent use.
type Body struct {
	exchange *exchange
	src      io.ReadCloser // the body that net/http made
	err      error         // the result of every further Read
	// chunks is not nil while this package removes the framing of the body, instead of net/http.
	chunks *chunks

	compressed bool
	gzip       *gzip.Reader // nil before the first Read
	gzipErr    error
}

// newBody returns the body of resp. A response without a body releases its connection at once.
func newBody(x *exchange, resp *http.Response, reusable bool) *Body {
	b := &Body{exchange: x, src: resp.Body}
	if resp.Body == http.NoBody || resp.StatusCode == http.StatusSwitchingProtocols {
		b.finish(io.EOF)
		return b
	}
	if x.conn != nil {
		f := framingOf(resp)
		x.conn.expectBody(f, reusable)
		if f.part == partLastChunk {
			b.chunks = new(chunks)
		}
	}
	var err error
	if b.compressed, err = isGzip(resp.Header); err != nil {
		b.finish(&Error{StepBody, err})
	}
	if b.compressed {
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
		resp.ContentLength, resp.Uncompressed = -1, true
	}
	return b
}

// isGzip reports whether a body is compressed with gzip. Another compression is an *UnfitError.
func isGzip(h http.Header) (bool, error) {
	switch coding := strings.ToLower(strings.Join(h.Values("Content-Encoding"), ", ")); coding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	default:
		return false, &UnfitError{fmt.Sprintf("the answer has the Content-Encoding %.40q, which was not asked for", coding)}
	}
}

// Arrival describes the bytes that the last Read returned, or the end of the body.
func (b *Body) Arrival() Arrival { return b.exchange.arrival }

// Received returns the number of bytes received so far: everything that the connection received for
// this answer, and the decompressed bytes. With a proxy or HTTP/2 it counts only the body.
func (b *Body) Received() int64 { return b.exchange.received.Load() }

// SetReadDeadline sets the deadline of Read; the zero time means none. Bytes that arrived before the
// deadline are in time, even if they are read later. After a Read has failed for its deadline, every
// further Read fails. After the end of the body, SetReadDeadline does nothing.
func (b *Body) SetReadDeadline(t time.Time) error {
	switch c := b.exchange.conn; {
	case b.err != nil:
	case c == nil:
		b.exchange.setTimer(t)
	case c.part != partNone: // otherwise the whole body has been read from the connection
		return c.raw.SetReadDeadline(t)
	}
	return nil
}

// Read returns bytes that have arrived, and waits for the first one. Its errors are io.EOF at the
// regular end, and *Error; if the body is incomplete, it wraps io.ErrUnexpectedEOF.
func (b *Body) Read(p []byte) (int, error) {
	if !b.compressed || b.err != nil && b.err != io.EOF {
		return b.readRaw(p)
	}
	n, err := b.decompress(p)
	if err := b.exchange.count(n); err != nil {
		return 0, b.fail(err)
	}
	var known *Error
	if err == nil || err == io.EOF || errors.As(err, &known) {
		return n, err
	}
	return n, b.fail(err)
}

// Close releases the connection. If the body has not been read to its end, the connection is closed.
func (b *Body) Close() error {
	b.finish(&Error{StepBody, http.ErrBodyReadAfterClose})
	b.compressed = false
	return nil
}

// decompress takes no more of the body than it needs for the bytes that it returns, so that they
// have the arrival of the last read.
func (b *Body) decompress(p []byte) (int, error) {
	if b.gzip == nil && b.gzipErr == nil {
		b.gzip, b.gzipErr = gzip.NewReader(rawBody{b})
	}
	if b.gzipErr != nil {
		return 0, b.gzipErr
	}
	n, err := b.gzip.Read(p)
	if n > 0 {
		err = nil // the next read returns it again
	}
	return n, err
}

// rawBody reads a Body without decompression.
type rawBody struct{ *Body }

func (r rawBody) Read(p []byte) (int, error) { return r.readRaw(p) }

// readRaw is Read before decompression.
func (b *Body) readRaw(p []byte) (n int, err error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.exchange.conn == nil {
		n, err = b.src.Read(p)
		if tooLong := b.exchange.count(n); tooLong != nil {
			err = tooLong
		}
		b.exchange.arriveNow()
	} else if b.chunks != nil {
		n, err = b.readChunks(p)
	} else {
		n, err = b.src.Read(p)
	}
	if err == nil {
		return n, nil
	}
	if err = b.fail(err); n > 0 {
		return n, nil // the next Read returns the error
	}
	return 0, err
}

// readChunks waits for data of a chunk, and returns what arrived with it.
func (b *Body) readChunks(p []byte) (int, error) {
	for {
		n, rest, err := b.exchange.conn.readChunks(p, b.chunks)
		if rest != nil {
			b.chunks = nil
		}
		switch {
		case n > 0:
			return n, err
		case err == io.EOF:
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		case rest != nil:
			return b.src.Read(p)
		}
	}
}

// fail ends the body, and returns the error for Read.
func (b *Body) fail(err error) error {
	if err != io.EOF {
		err = b.exchange.fail(err)
	}
	b.finish(err)
	return err
}

// finish sets err and releases the connection. Only the first call does something. net/http keeps
// the connection if the body was read to its end. Otherwise it must not read on, from the middle of a chunk.
func (b *Body) finish(err error) {
	if b.err != nil {
		return
	}
	b.err = err
	if c := b.exchange.conn; c != nil && err != io.EOF {
		c.Close()
	}
	b.src.Close()
	b.exchange.close()
}
