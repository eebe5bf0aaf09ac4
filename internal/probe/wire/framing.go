package wire

import (
	"io"
	"net/http"
)

// framing finds the body in the bytes of a connection.
type framing interface {
	// want returns how many of n bytes may be read without running past the
	// end of the body, as far as that is known.
	want(n int) int
	// decode takes bytes off the connection and moves those of the body to the
	// front of p: n of them. done says that the body ended, after used bytes.
	decode(p []byte) (n, used int, done bool, err error)
	// eof is the meaning of the connection's end: io.EOF if it is the body's.
	eof() error
}

// framingOf returns how the body of resp is framed, nil if it has none.
func framingOf(r *http.Request, resp *http.Response, maxTrailer int) framing {
	switch {
	case r.Method == http.MethodHead, resp.StatusCode < 200,
		resp.StatusCode == http.StatusNoContent, resp.StatusCode == http.StatusNotModified,
		resp.ContentLength == 0:
		return nil
	case len(resp.TransferEncoding) > 0:
		return &chunked{maxTrailer: maxTrailer}
	case resp.ContentLength > 0:
		return &sized{left: resp.ContentLength}
	}
	return untilClose{}
}

// sized is a body of known length.
type sized struct{ left int64 }

func (s *sized) want(n int) int { return int(min(int64(n), s.left)) }

func (s *sized) decode(p []byte) (n, used int, done bool, err error) {
	s.left -= int64(len(p))
	return len(p), len(p), s.left == 0, nil
}

func (s *sized) eof() error { return io.ErrUnexpectedEOF }

// untilClose is a body that lasts as long as the connection.
type untilClose struct{}

func (untilClose) want(n int) int { return n }

func (untilClose) decode(p []byte) (n, used int, done bool, err error) {
	return len(p), len(p), false, nil
}

func (untilClose) eof() error { return io.EOF }
