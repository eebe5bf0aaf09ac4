package httplimit

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"synthetic/internal/bound"
)

// Connections are those that are open, of all listeners together. When there are
// as many as there may be, the one that has waited longest for a request gives
// way to a new one, or else the one whose request has taken longest, if that is
// long; where all requests are young, the new one is closed. Use NewConnections.
type Connections struct {
	limit   int
	reserve *reserve

	mu   sync.Mutex
	open map[*conn]stay
}

// stay is what a connection is there for, and since when.
type stay struct {
	busy  bool // with a request
	since time.Time
}

// NewConnections returns the bound on connections that suits the process: a
// quarter of its descriptors at most, since probes need the others.
func NewConnections() *Connections {
	limit := int64(maxConnections)
	if descriptors := bound.MaxOpenFiles(); descriptors > 0 {
		limit = min(limit, max(descriptors/4, 1))
	}
	return newConnections(int(limit))
}

func newConnections(limit int) *Connections {
	return &Connections{limit: limit, reserve: &reserve{}, open: map[*conn]stay{}}
}

// Level returns how many connections there are, and how many there may be.
func (c *Connections) Level() (used, limit float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(len(c.open)), float64(c.limit)
}

// Of returns l with the bound. The connections must be those of a server of
// NewServer.
func (c *Connections) Of(l net.Listener) net.Listener {
	c.reserve.fill()
	return &listener{l, c}
}

type listener struct {
	net.Listener
	of *Connections
}

// Accept waits for a connection that there is room for.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if errors.Is(err, syscall.EMFILE) && l.of.reserve.give() {
			continue
		}
		l.of.reserve.fill()
		if err != nil {
			return nil, err
		}
		if c := l.of.admit(raw); c != nil {
			return c, nil
		}
		raw.Close()
	}
}

// admit takes a connection in, and sends another away for it if it must; nil
// when there is no room.
func (c *Connections) admit(raw net.Conn) net.Conn {
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // or the system's size holds
	}
	admitted := &conn{Conn: raw, of: c}
	c.mu.Lock()
	var leaves *conn
	if len(c.open) >= c.limit {
		if leaves = c.leaves(); leaves == nil {
			c.mu.Unlock()
			return nil
		}
		delete(c.open, leaves)
	}
	c.open[admitted] = stay{since: time.Now()}
	c.mu.Unlock()
	if leaves != nil {
		leaves.Close()
	}
	return admitted
}

// leaves is the connection that gives way, nil when none does.
func (c *Connections) leaves() (first *conn) {
	for open, s := range c.open {
		if first == nil || s.before(c.open[first]) {
			first = open
		}
	}
	if s := c.open[first]; s.busy && time.Since(s.since) < busyTimeout {
		return nil
	}
	return first
}

// before reports whether a connection gives way before another.
func (s stay) before(other stay) bool {
	if s.busy != other.busy {
		return other.busy
	}
	return s.since.Before(other.since)
}

// state is the http.Server.ConnState that says which connections wait.
func (c *Connections) state(over net.Conn, s http.ConnState) {
	if secure, ok := over.(*tls.Conn); ok {
		over = secure.NetConn()
	}
	of, ok := over.(*conn)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.open[of]; !open {
		return
	}
	if s == http.StateActive || s == http.StateIdle {
		c.open[of] = stay{busy: s == http.StateActive, since: time.Now()}
	}
}

// conn is a connection that says when it is closed.
type conn struct {
	net.Conn
	of *Connections
}

func (c *conn) Close() error {
	err := c.Conn.Close()
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	c.of.reserve.fill()
	return err
}
