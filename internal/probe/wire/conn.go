package wire

import (
	"bytes"
	"cmp"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"synthetic/internal/probe/stream"
)

// settle is how long a connection is watched after its first response. Some
// servers promise to keep a connection and close it at once: a request sent
// before their farewell arrives would be lost, and the failure would be ours.
const settle = 3 * time.Millisecond

// stamped is a connection that says when the bytes of its last Read arrived. A
// Read whose deadline has passed still returns what had arrived by then.
type stamped interface {
	net.Conn
	arrival() stream.Arrival
	// quiet reports whether nothing, not even the peer's farewell, waits to be
	// read, as far as the system can tell. It may be called beside Read.
	quiet() bool
}

// conn is a connection as net/http sees it. It counts the data that net/http
// was given, so that a body knows how much it can read without waiting: net/http
// reads on only when it has nothing left, so all of that arrived together.
type conn struct {
	net.Conn // TLS or not
	stamps   *guarded
	// spoken is closed once the first request goes out: a server that speaks
	// first is heard as its answer.
	spoken chan struct{}
	once   sync.Once

	mu sync.Mutex
	framing
	x       *exchange // the request that has or had the connection
	held    []byte    // read, and not for net/http yet
	settled bool      // watched after its first response, or not to be kept
	reused  bool      // by x
	sent    bool      // x has begun to send
	wrote   int       // bytes of x's request
	// firstWrite and lastWrite are when the system had taken parts of it.
	firstWrite, lastWrite time.Time
	counted               int64 // bytes received that x, or one before it, knows of
	// readErr and writeErr are what the connection itself said.
	readErr, writeErr error
}

// errUnasked ends a connection at which net/http only listens: the peer has
// closed it, or says something unasked. Nothing of a request has gone out.
var errUnasked = errors.New("the kept connection is closed")

func newConn(secure net.Conn, stamps *guarded) *conn {
	return &conn{Conn: secure, stamps: stamps, spoken: make(chan struct{})}
}

// claim gives the connection to x. A kept one that its server has closed, or has
// written to unasked, is closed, and net/http takes another.
func (c *conn) claim(x *exchange, reused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stale := reused && (c.writeErr != nil || len(c.held) > 0 || !c.stamps.quiet())
	c.x, c.reused, c.sent, c.wrote = x, reused, false, 0
	c.firstWrite, c.lastWrite = time.Time{}, time.Time{}
	c.stamps.forget()
	c.stamps.SetDeadline(x.trace.HeaderDeadline)
	if stale {
		c.stamps.Close()
	}
}

// forsake leaves a connection on which x sent nothing; it reports whether that
// is so.
func (c *conn) forsake() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing = framing{}
	return c.wrote == 0
}

// unsent reports whether nothing of x's request went out: net/http may look for
// another connection.
func (c *conn) unsent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrote == 0
}

// follow makes what comes next the body of the response.
func (c *conn) follow(f framing, kept bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing, c.settled = f, c.settled || !kept
}

// Read gives what arrived, up to the end of the headers or of the body.
func (c *conn) Read(p []byte) (int, error) {
	<-c.spoken
	b, err := c.held, error(nil)
	if len(b) == 0 {
		var n int
		if n, err = c.Conn.Read(p); n > 0 {
			err = nil // it comes again, after what is held
		}
		b = p[:n]
	}
	n, ended, err := c.give(p, b, err)
	if ended {
		time.Sleep(settle)
	}
	return n, err
}

// give hands of b, which is held or in p, what net/http may have. ended says
// that it ends the first response.
func (c *conn) give(p, b []byte, err error) (n int, ended bool, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.part == partNone {
		return 0, false, errUnasked
	}
	received := c.stamps.received.Load()
	over := c.x.receive(int(received - c.counted))
	c.counted = received
	if over != nil {
		c.readErr = over
		return 0, false, over
	}
	inHead := c.part == partHead
	n, data := c.take(b[:min(len(b), len(p))])
	copy(p, b[:n])
	switch {
	case n == len(b):
		c.held = nil
	case len(c.held) > 0:
		c.held = b[n:]
	default:
		c.held = bytes.Clone(b[n:])
	}
	c.x.at, c.x.avail = c.stamps.arrival(), c.x.avail+data
	c.readErr = err
	if c.part == partNone {
		c.stamps.SetDeadline(time.Time{})
		ended = !inHead && !c.settled
		c.settled = c.settled || ended
	}
	return n, ended, err
}

// Write sends a part of the request. A server that hangs up before it has read
// the whole of it may have said why, so that is no error yet: its answer tells
// more than the failed write.
func (c *conn) Write(p []byte) (int, error) {
	c.begin()
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.lastWrite = time.Now()
		c.firstWrite = cmp.Or(c.firstWrite, c.lastWrite)
	}
	c.wrote += n
	c.writeErr = cmp.Or(c.writeErr, err)
	hungUp := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	unsent := c.reused && c.wrote == 0 // another connection may carry it
	if hungUp && !unsent {
		return len(p), nil
	}
	return n, err
}

// begin expects an answer from the first write on. A connection that nobody has
// claimed was closed.
func (c *conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sent && c.x != nil {
		c.sent, c.framing = true, framing{part: partHead}
		c.once.Do(func() { close(c.spoken) })
	}
}

// writes returns when the request went out, as far as it did. Once net/http has
// called it failed nothing more of it goes out: it waits for its writer first.
func (c *conn) writes() (first, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.firstWrite, c.lastWrite
}

// Close closes without a farewell: TLS would wait for a peer that does not
// read.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.spoken) })
	return c.stamps.Close()
}
