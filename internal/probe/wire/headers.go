package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// readHeaders returns the response without its body, and what was read of the
// body. It takes a buffer only for as long as the headers take.
func (c *Client) readHeaders(conn *conn, r *http.Request, deadline time.Time) (*http.Response, []byte, error) {
	br := c.readers.Get().(*bufio.Reader)
	defer c.readers.Put(br)
	limited := &headerReader{src: conn, deadline: deadline, left: c.options.MaxHeaderBytes, limit: c.options.MaxHeaderBytes}
	br.Reset(limited)
	defer br.Reset(nil)
	for range maxInterim + 1 {
		resp, err := http.ReadResponse(br, r)
		if err != nil {
			return nil, nil, limited.explain(err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			rest, err := br.Peek(br.Buffered())
			return resp, bytes.Clone(rest), err
		}
		limited.left = limited.limit
	}
	return nil, nil, fmt.Errorf("the server sent more than %d interim (1xx) responses", maxInterim)
}

// headerReader bounds the bytes that headers may take.
type headerReader struct {
	src         *conn
	deadline    time.Time
	left, limit int
	any         bool
	err         error
}

func (h *headerReader) Read(p []byte) (int, error) {
	if h.left <= 0 && h.err == nil {
		h.err = fmt.Errorf("the response headers are over %d bytes", h.limit)
	}
	if h.err != nil { // the parser asks again after an error
		return 0, h.err
	}
	p = p[:min(len(p), h.left)]
	n, err := h.src.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = h.lookAgain(p, err)
	}
	h.left -= n
	h.any = h.any || n > 0
	if err != nil {
		h.err = err
	}
	return n, err
}

// grace is for a read of what is there: a deadline that has passed forbids it.
const grace = 2 * time.Millisecond

// lookAgain reads what waits after the deadline: bytes that arrived before it
// are in time, and it is this process that is late. Otherwise the answer is
// expired.
func (h *headerReader) lookAgain(p []byte, expired error) (int, error) {
	if h.src.stamps.quiet() || h.src.setReadDeadline(time.Now().Add(grace)) != nil {
		return 0, expired
	}
	n, err := h.src.Read(p)
	if n > 0 && h.src.stamps.arrival().At.After(h.deadline) {
		return 0, expired
	}
	return n, err
}

// explain prefers what the connection said to what the parser made of it.
func (h *headerReader) explain(err error) error {
	switch {
	case h.err == nil:
		return err
	case !errors.Is(h.err, io.EOF):
		return h.err
	case !h.any:
		return fmt.Errorf("the server closed the connection without a response: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("the server closed the connection amid the response headers: %w", io.ErrUnexpectedEOF)
}
