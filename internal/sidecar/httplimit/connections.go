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

// Connections bounds the open connections of all listeners together. At the limit, a new
// connection replaces the one that has waited longest for a request, or else the one with the
// longest request if that is older than busyTimeout. If all requests are young, the new
// connection is closed. Use NewConnections.
type Connections struct {
	limit   int
	reserve *reserve

	mu   sync.Mutex
	open map[*conn]connState
}

// connState says whether a connection has a request, and since when.
type connState struct {
	busy  bool // has a request
	since time.Time
}

// NewConnections returns the limit for this process: at most a quarter of its descriptors,
// since probes need the others.
func NewConnections() *Connections {
	limit := int64(maxConnections)
	if descriptors := bound.MaxOpenFiles(); descriptors > 0 {
		limit = min(limit, max(descriptors/4, 1))
	}
	return newConnections(int(limit))
}

func newConnections(limit int) *Connections {
	return &Connections{limit: limit, reserve: &reserve{}, open: map[*conn]connState{}}
}

// Level returns the number of open connections and the limit.
func (c *Connections) Level() (used, limit float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(len(c.open)), float64(c.limit)
}

// Limit wraps l with the limit. The connections must belong to a server of NewServer.
func (c *Connections) Limit(l net.Listener) net.Listener {
	c.reserve.fill()
	return &listener{l, c}
}

type listener struct {
	net.Listener
	of *Connections
}

// Accept waits for a connection that fits the limit.
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

// admit registers a connection and closes another one if needed. It returns nil if there is no
// room.
func (c *Connections) admit(raw net.Conn) net.Conn {
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it, the system's default size holds
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
	c.open[admitted] = connState{since: time.Now()}
	c.mu.Unlock()
	if leaves != nil {
		leaves.Close()
	}
	return admitted
}

// leaves returns the connection to close for a new one, or nil.
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

// before reports whether s is closed before other.
func (s connState) before(other connState) bool {
	if s.busy != other.busy {
		return other.busy
	}
	return s.since.Before(other.since)
}

// state is an http.Server.ConnState hook that tracks which connections wait for a request.
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
		c.open[of] = connState{busy: s == http.StateActive, since: time.Now()}
	}
}

// conn is a connection that reports its end.
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
