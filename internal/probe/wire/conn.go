package wire

import (
	"bytes"
	"cmp"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// settleTime is how long a connection is watched after its first response. Some servers promise to
// keep a connection and close it at once. A request that is sent before the close arrives would be
// lost, and the failure would be the prober's.
const settleTime = 3 * time.Millisecond

// errNoRequest ends a read of net/http while no request is in flight. The server has closed the
// kept connection, or has sent bytes without a request.
var errNoRequest = errors.New("the kept connection is closed")

// conn is the connection that net/http uses, except for the chunks that Body reads. net/http reads only when it has
// used up all earlier bytes, so what it returns from one read arrived together.
type conn struct {
	net.Conn              // with TLS, if any
	raw      *countedConn // below TLS

	// started is closed by the first write. Reads wait for it: bytes that a server sends before it
	// has a request then count as its answer.
	started   chan struct{}
	startOnce sync.Once

	mu       sync.Mutex
	framing            // of the current response
	exchange *exchange // the current request, or the last one
	unread   []byte    // read from Conn, but not passed to net/http
	settled  bool      // settleTime is over, or not needed
	counted  int64     // received bytes that an exchange has counted
	// readErr and writeErr are errors of Conn itself.
	readErr, writeErr error
	sending
}

// sending is how far the current request is.
type sending struct {
	reused, begun bool
	written       int // bytes
	// firstWrite and lastWrite are when the kernel had taken its first and its last part.
	firstWrite, lastWrite time.Time
	// asked is when the kernel had taken everything so far. A failed write clears it.
	asked time.Time
}

func newConn(c net.Conn, counted *countedConn) *conn {
	return &conn{Conn: c, raw: counted, started: make(chan struct{})}
}

// assign gives the connection to an exchange. If the server has closed a kept connection, or has
// sent something, assign closes it, and net/http dials another one.
func (c *conn) assign(x *exchange, reused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stale := reused && (c.writeErr != nil || len(c.unread) > 0 || !c.raw.quiet())
	c.exchange, c.sending = x, sending{reused: reused}
	c.raw.setExtend(x.trace.extend)
	c.raw.SetDeadline(x.trace.HeaderDeadline)
	if stale {
		c.raw.Close()
	}
}

// unassign takes the connection from its exchange. It returns false if bytes of the request have
// been written.
func (c *conn) unassign() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing = framing{}
	return c.written == 0
}

// unsent reports whether no byte of the request has been written. net/http can then use another
// connection.
func (c *conn) unsent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written == 0
}

// expectBody tells the connection that the next bytes are a body. reusable says that the
// connection can be kept after it.
func (c *conn) expectBody(f framing, reusable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.framing, c.settled = f, c.settled || !reusable
}

// Read returns bytes that have arrived, but none beyond the end of the headers or of the body.
func (c *conn) Read(p []byte) (int, error) {
	<-c.started
	b, err := c.unread, error(nil)
	if len(b) == 0 {
		var n int
		if n, err = c.Conn.Read(p); n > 0 {
			err = nil // the next read returns it again
		}
		b = p[:n]
	}
	n, mustSettle, err := c.pass(p, b, err)
	if mustSettle {
		time.Sleep(settleTime)
	}
	return n, err
}

// pass copies to p the part of b that net/http may have, and keeps the rest in c.unread. mustSettle
// is true at the end of the first response.
func (c *conn) pass(p, b []byte, err error) (n int, mustSettle bool, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.part == partNone {
		return 0, false, errNoRequest
	}
	if err := c.noteRead(err); err != nil {
		return 0, false, err
	}
	inHead := c.part == partHead
	n = c.take(b[:min(len(b), len(p))])
	copy(p, b[:n])
	switch {
	case n == len(b):
		c.unread = nil
	case len(c.unread) > 0:
		c.unread = b[n:]
	default:
		c.unread = bytes.Clone(b[n:])
	}
	if c.part == partNone {
		c.raw.SetDeadline(time.Time{})
		mustSettle = !inHead && !c.settled
		c.settled = c.settled || mustSettle
	}
	return n, mustSettle, err
}

// noteRead notes when the last read arrived, and its error. It returns an error if the answer is too long. The
// caller holds c.mu.
func (c *conn) noteRead(err error) error {
	received := c.raw.received.Load()
	tooLong := c.exchange.count(int(received - c.counted))
	c.counted = received
	c.exchange.arrival = c.raw.arrival()
	c.readErr = cmp.Or(tooLong, err)
	return tooLong
}

// readChunks reads once, without net/http, and returns the number of bytes of data at the front of p. If rest is
// not nil, net/http has to read the rest of the body, and will get these bytes.
func (c *conn) readChunks(p []byte, framing *chunks) (data int, rest []byte, err error) {
	n := copy(p, c.unread)
	if c.unread = c.unread[n:]; len(c.unread) == 0 {
		c.unread = nil
	}
	if n == 0 {
		n, err = c.Conn.Read(p)
	}
	if n > 0 {
		err = nil // the next read returns it again
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.noteRead(err); err != nil || n == 0 {
		return 0, nil, c.readErr
	}
	if data, rest, err = framing.strip(p[:n]); rest != nil {
		c.unread = append(rest, c.unread...)
	}
	return data, rest, err
}

// Write sends a part of the request. If the server closes the connection during the request, Write
// returns no error, because the server's answer can contain the reason.
func (c *conn) Write(p []byte) (int, error) {
	c.startRequest()
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.lastWrite = time.Now()
		c.firstWrite = cmp.Or(c.firstWrite, c.lastWrite)
	}
	c.asked = time.Time{}
	if err == nil {
		c.asked = c.lastWrite
	}
	c.written += n
	c.writeErr = cmp.Or(c.writeErr, err)
	closed := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	canRetry := c.reused && c.written == 0 // over another connection
	if closed && !canRetry {
		return len(p), nil
	}
	return n, err
}

// startRequest expects a response from the first write on. A connection without an exchange is
// being closed.
func (c *conn) startRequest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun && c.exchange != nil {
		c.begun, c.framing = true, framing{part: partHead}
		c.startOnce.Do(func() { close(c.started) })
	}
}

// traceWrites sets the times of the writes in t. They are final after net/http has reported a failed
// request, because net/http waits for its writer before that.
func (c *conn) traceWrites(t *Trace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.FirstWrite, t.LastWrite, t.Asked = c.firstWrite, c.lastWrite, time.Time{}
	if c.raw.provesSilence() {
		t.Asked = c.asked
	}
}

// Close closes without the TLS close message, which would wait for a peer that does not read.
func (c *conn) Close() error {
	c.startOnce.Do(func() { close(c.started) })
	return c.raw.Close()
}
