package wire

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// countedConn is a connection below TLS, so that it sees every byte of the peer. It counts the
// received bytes, and calls release when it is closed.
type countedConn struct {
	timedConn
	release func()
	closing sync.Once

	received atomic.Int64 // bytes
	// shared is true if streams of HTTP/2 share the connection: they then need the arrival from other goroutines.
	shared bool

	mu sync.Mutex
	// readDeadline is the deadline of Read, armed that of the connection, which is not later: a stream moves its
	// deadline with each token, and the connection only when armed has passed.
	readDeadline, armed time.Time
	wrote               time.Time // when the last Write returned
	// arrived is the arrival of the last Read, if shared is set.
	arrived time.Time
	// extend returns a later deadline for a peer that got everything at wrote; nil for none.
	extend func(deadline, wrote time.Time) time.Time
}

func newCountedConn(c timedConn, release func()) *countedConn {
	return &countedConn{timedConn: c, release: release}
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.timedConn.Read(p)
	for errors.Is(err, os.ErrDeadlineExceeded) && c.moveDeadline() {
		n, err = c.timedConn.Read(p)
	}
	c.received.Add(int64(n))
	if c.shared {
		c.mu.Lock()
		c.arrived = c.arrival().At
		c.mu.Unlock()
	}
	return n, err
}

// lastArrival is the arrival of the last Read of a shared connection.
func (c *countedConn) lastArrival() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.arrived
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.timedConn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrote = time.Now()
	return n, err
}

func (c *countedConn) lastWrite() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrote
}

// moveDeadline moves the deadline of the connection, and returns false if it stays.
func (c *countedConn) moveDeadline() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	later := c.readDeadline
	if !later.After(c.armed) && c.extend != nil {
		later = c.extend(c.readDeadline, c.wrote)
	}
	if !later.After(c.armed) {
		return false
	}
	c.armed = later
	return c.timedConn.SetReadDeadline(later) == nil
}

// setExtend sets how deadlines move; nil means not at all.
func (c *countedConn) setExtend(extend func(deadline, wrote time.Time) time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extend = extend
}

func (c *countedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline = t
	if !c.armed.IsZero() && !t.Before(c.armed) {
		return nil
	}
	c.armed = t
	return c.timedConn.SetReadDeadline(t)
}

func (c *countedConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline, c.armed = t, t
	return c.timedConn.SetDeadline(t)
}

func (c *countedConn) Close() error {
	err := net.ErrClosed
	c.closing.Do(func() {
		err = c.timedConn.Close()
		c.release()
	})
	return err
}
