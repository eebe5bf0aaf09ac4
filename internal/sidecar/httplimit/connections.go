package httplimit

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"synthetic/internal/bound"
)

// Connections limits the open connections of all listeners together. At the limit, a new connection
// replaces the connection that has waited longest for a request. If all have requests, it replaces the
// connection with the oldest request, if that is older than busyTimeout. Otherwise it is closed itself.
type Connections struct {
	limit   int
	reserve reserve

	mu   sync.Mutex
	open map[*conn]connState
}

type connState struct {
	busy  bool // has a request
	since time.Time
}

// NewConnections returns the limit for this process. It is at most a quarter of its descriptors, since
// probes need the others.
func NewConnections(most int64) *Connections {
	limit := most
	if descriptors := bound.MaxOpenFiles(); descriptors > 0 {
		limit = min(limit, max(descriptors/4, 1))
	}
	return newConnections(int(limit))
}

func newConnections(limit int) *Connections {
	return &Connections{limit: limit, open: map[*conn]connState{}}
}

// Level returns the number of open connections and the limit.
func (c *Connections) Level() (used, limit float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(len(c.open)), float64(c.limit)
}

// Limit wraps a listener. A server of NewServer must use it.
func (c *Connections) Limit(l net.Listener) net.Listener {
	c.reserve.fill()
	return &listener{l, c}
}

type listener struct {
	net.Listener
	connections *Connections
}

// Accept waits for a connection within the limit.
func (l *listener) Accept() (net.Conn, error) {
	reserve := &l.connections.reserve
	for {
		raw, err := l.Listener.Accept()
		if errors.Is(err, syscall.EMFILE) && reserve.release() {
			continue
		}
		reserve.fill()
		if err != nil {
			return nil, err
		}
		if c := l.connections.admit(raw); c != nil {
			return c, nil
		}
		raw.Close()
	}
}

// admit adds a connection, which may replace another one. It returns nil if the limit does not allow it.
func (c *Connections) admit(raw net.Conn) net.Conn {
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // if it fails, the system's default applies
	}
	admitted := &conn{Conn: raw, connections: c}
	c.mu.Lock()
	var replaced *conn
	if len(c.open) >= c.limit {
		if replaced = c.replaceable(); replaced == nil {
			c.mu.Unlock()
			return nil
		}
		delete(c.open, replaced)
	}
	c.open[admitted] = connState{since: time.Now()}
	c.mu.Unlock()
	if replaced != nil {
		replaced.Close()
	}
	return admitted
}

// replaceable returns the connection that a new one replaces, or nil.
func (c *Connections) replaceable() (first *conn) {
	for open, state := range c.open {
		if first == nil || state.before(c.open[first]) {
			first = open
		}
	}
	if s := c.open[first]; s.busy && time.Since(s.since) < busyTimeout {
		return nil
	}
	return first
}

// before reports whether s is closed before other to admit a new connection: waiting connections
// first, then the oldest.
func (s connState) before(other connState) bool {
	if s.busy != other.busy {
		return other.busy
	}
	return s.since.Before(other.since)
}

func (c *Connections) setState(changed net.Conn, s http.ConnState) {
	if secure, ok := changed.(*tls.Conn); ok {
		changed = secure.NetConn()
	}
	admitted, ok := changed.(*conn)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.open[admitted]
	if open && (s == http.StateActive || s == http.StateIdle) {
		c.open[admitted] = connState{busy: s == http.StateActive, since: time.Now()}
	}
}

// conn removes itself from connections when it is closed.
type conn struct {
	net.Conn
	connections *Connections
}

func (c *conn) Close() error {
	err := c.Conn.Close()
	c.connections.mu.Lock()
	delete(c.connections.open, c)
	c.connections.mu.Unlock()
	c.connections.reserve.fill()
	return err
}

// reserveSize is the number of descriptors that are reserved for the port.
const reserveSize = 8

// reserve holds open descriptors. When the process has no descriptors left, one of them is closed to
// accept a connection.
type reserve struct {
	mu    sync.Mutex
	files []*os.File
}

// fill opens the missing descriptors, if the system allows it.
func (r *reserve) fill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.files) < reserveSize {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		r.files = append(r.files, f)
	}
}

// release closes one descriptor. It returns false if all are closed.
func (r *reserve) release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.files) == 0 {
		return false
	}
	last := len(r.files) - 1
	r.files[last].Close()
	r.files = r.files[:last]
	return true
}
