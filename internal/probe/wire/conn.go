package wire

import (
	"context"
	"net"
	"sync"
	"time"

	"synthetic/internal/probe/stream"
)

// stamped is a connection that says when the bytes of its last Read arrived.
type stamped interface {
	net.Conn
	arrival() stream.Arrival
	// quiet reports whether nothing, not even the peer's farewell, waits to be
	// read.
	quiet() bool
}

// conn is one connection: what requests go over (TLS or not), and the stamps
// of what lies under it.
type conn struct {
	net.Conn
	stamps stamped
	key    string
	since  time.Time // idle since
	kept   bool      // outlived a response

	stop func() bool // ends watching the context

	mu       sync.Mutex
	canceled bool
}

// watch makes every wait on the connection end when ctx does, without a
// goroutine that waits for it.
func (c *conn) watch(ctx context.Context) {
	c.stop = context.AfterFunc(ctx, c.cancel)
}

// release ends watching. It reports false if the context has ended, which
// leaves the connection unusable.
func (c *conn) release() bool { return c.stop() }

func (c *conn) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.canceled = true
	c.Conn.SetDeadline(longAgo())
}

// setDeadline bounds reads and writes, unless the request was canceled: that
// deadline stays.
func (c *conn) setDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.canceled {
		return nil
	}
	return c.Conn.SetDeadline(t)
}

// setReadDeadline is setDeadline for reads alone: a write that times out would
// end a TLS connection.
func (c *conn) setReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.canceled {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// abort closes the connection without a farewell: TLS would wait for a peer
// that does not read.
func (c *conn) abort() { c.stamps.Close() }

// usable reports whether an idle connection may carry another request: the
// peer has neither closed it nor sent what nobody asked for.
func (c *conn) usable() bool {
	if !c.stamps.quiet() {
		return false
	}
	if c.Conn == net.Conn(c.stamps) {
		return true
	}
	// TLS may hold decrypted bytes that the socket no longer shows.
	return quietByDeadline(c.Conn)
}

// quietByDeadline tries to read with a deadline that has passed.
func quietByDeadline(c net.Conn) bool {
	if c.SetReadDeadline(longAgo()) != nil {
		return false
	}
	var b [1]byte
	n, err := c.Read(b[:])
	timeout, ok := err.(net.Error)
	return n == 0 && ok && timeout.Timeout() && c.SetReadDeadline(time.Time{}) == nil
}

// longAgo is a deadline that has passed on every clock, a test's too.
func longAgo() time.Time { return time.Unix(1, 0) }
