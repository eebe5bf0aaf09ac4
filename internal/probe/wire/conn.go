package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"synthetic/internal/probe/stream"
)

const (
	// readAhead holds several usual events.
	readAhead = 2 << 10
	// settle is how long a connection is watched after its first response. Some
	// servers promise to keep a connection and close it at once: a request sent
	// before their farewell arrives would be lost, and the failure would be ours.
	settle = 3 * time.Millisecond
)

// stamped is a connection that says when the bytes of its last Read arrived. A
// Read whose deadline has passed still returns what had arrived by then.
type stamped interface {
	net.Conn
	arrival() stream.Arrival
	// quiet reports whether nothing, not even the peer's farewell, waits to be
	// read, as far as the system can tell. It may be called beside Read.
	quiet() bool
}

// conn is a connection as net/http sees it. A Read gives it bytes of one arrival
// and one response, and counts the data among them: so a body knows, at any
// time, how much it can read without waiting.
type conn struct {
	net.Conn // TLS or not
	stamps   stamped
	// claimed is closed once the first request has the connection: a server
	// that speaks first is heard as its answer.
	claimed chan struct{}
	once    sync.Once

	// Bytes read ahead are buf[r:w], which arrived at. One goroutine at a time
	// reads: net/http's until the headers are in, the body's reader then.
	buf  []byte
	r, w int
	at   stream.Arrival
	err  error // why no more can be read

	mu      sync.Mutex
	framing framing
	owner   *exchange // the request that has the connection, if any
	head    int       // bytes of the headers so far
	kept    bool      // settled, or not to be kept
	// readErr and writeErr are what the connection itself said to the owner.
	readErr, writeErr error
	wrote             int // bytes of the owner's request
	wroteAt           time.Time
}

func newConn(secure net.Conn, stamps stamped) *conn {
	return &conn{Conn: secure, stamps: stamps, claimed: make(chan struct{})}
}

// claim gives the connection to a request. A kept one that its server has
// closed, or has written to unasked, is closed: nothing of the request goes out.
func (c *conn) claim(x *exchange, reused bool) {
	c.mu.Lock()
	c.owner, c.framing = x, framing{part: partHead}
	c.head, c.wrote, c.readErr = 0, 0, nil
	stale := reused && (c.writeErr != nil || !c.stamps.quiet())
	c.stamps.SetDeadline(x.trace.HeaderDeadline)
	c.mu.Unlock()
	if stale {
		c.Close()
	}
	c.once.Do(func() { close(c.claimed) })
}

// release ends the claim of x, if it still has one.
func (c *conn) release(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owner == x {
		c.stamps.SetDeadline(time.Time{})
		c.owner = nil
	}
}

// setReadDeadline bounds the reads of x.
func (c *conn) setReadDeadline(x *exchange, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owner != x {
		return nil
	}
	return c.stamps.SetReadDeadline(t)
}

// follow makes what comes next the body of x's response.
func (c *conn) follow(x *exchange, f framing, kept bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing, c.kept = f, c.kept || kept
	c.stamps.SetDeadline(time.Time{})
}

// interim expects headers again after an interim response.
func (c *conn) interim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing, c.head = framing{part: partHead}, 0
}

// ready returns how many bytes of the body can be read without waiting, those
// that net/http holds aside. The body's reader alone may call it.
func (c *conn) ready() int { return c.framing.ready(c.buf[c.r:c.w]) }

// await reads ahead where there is nothing. Its error is that of the next Read.
func (c *conn) await() {
	if c.r == c.w && c.framing.part != partDone {
		_ = c.fill()
	}
}

// Read gives bytes that arrived together and belong to one response.
func (c *conn) Read(p []byte) (int, error) {
	if c.buf == nil {
		<-c.claimed
		c.buf = make([]byte, readAhead)
	}
	if c.r == c.w {
		if err := c.fill(); err != nil {
			return 0, c.failed(err)
		}
	}
	n, ended, err := c.hand(p)
	if ended {
		time.Sleep(settle)
	}
	return n, err
}

func (c *conn) fill() error {
	if c.err != nil {
		return c.err
	}
	n, err := c.Conn.Read(c.buf)
	c.r, c.w, c.at = 0, n, c.stamps.arrival()
	if n == 0 {
		c.err = err
	}
	return c.err
}

// failed remembers what net/http might not repeat.
func (c *conn) failed(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readErr = err
	if c.owner != nil {
		c.owner.at = c.at
	}
	return err
}

// hand moves what there is of the response into p. ended says that it ends the
// first response.
func (c *conn) hand(p []byte) (n int, ended bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owner == nil || c.framing.part == partDone {
		return 0, false, io.EOF
	}
	was := c.framing.part
	b := c.buf[c.r:c.w]
	n, data := c.framing.takeAll(b[:min(len(b), len(p))])
	copy(p, b[:n])
	c.r += n
	c.owner.at, c.owner.ahead = c.at, c.owner.ahead+data
	if was == partHead {
		if c.head += n; c.head > maxHeaderBytes {
			c.readErr = fmt.Errorf("the response headers are over %d bytes", maxHeaderBytes)
			return 0, false, c.readErr
		}
		return n, false, nil
	}
	ended = c.framing.part == partDone && !c.kept
	c.kept = c.kept || ended
	return n, ended, nil
}

// Write sends a part of the owner's request. A server that hangs up before it
// has read the whole of it may have said why, so that is no error yet: its
// answer tells more than the failed write.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrote += n
	c.wroteAt = time.Now()
	if err != nil && c.writeErr == nil {
		c.writeErr = err
	}
	if hungUp(err) {
		return len(p), nil
	}
	return n, err
}

// hungUp reports whether a write failed because the peer had closed.
func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// Close closes without a farewell: TLS would wait for a peer that does not
// read.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.claimed) })
	return c.stamps.Close()
}
