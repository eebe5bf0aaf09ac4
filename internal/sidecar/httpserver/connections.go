package httpserver

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"synthetic/internal/bound"
)

const (
	// maxConnections is the number of open connections above which the one that has waited longest is
	// closed, so that idle connections cannot use up the descriptors.
	maxConnections = 512
	// sendBuffer is the kernel's buffer for a slow reader. The kernel takes twice that, and a container's
	// memory limit includes it.
	sendBuffer = 64 << 10
	// waitingAge and busyAge are the ages at which connections without and with a request may be closed.
	// Scrapes are faster.
	waitingAge, busyAge = time.Second, 5 * time.Second
)

// connections closes connections for new ones. It refuses none.
type connections struct {
	most int
	mu   sync.Mutex
	open map[net.Conn]connState
	// waits is true if trim will be called again.
	waits bool
}

type connState struct {
	busy  bool // has a request
	since time.Time
}

func newConnections(most int) *connections {
	if files := bound.MaxOpenFiles(); files > 0 {
		most = min(most, max(int(files/4), 1)) // probes need the others
	}
	return &connections{most: most, open: map[net.Conn]connState{}}
}

// set is the ConnState of an http.Server.
func (c *connections) set(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s {
	case http.StateNew:
		limitBuffer(conn)
		c.open[conn] = connState{since: time.Now()}
		if len(c.open) > c.most {
			c.trim()
		}
	case http.StateActive, http.StateIdle:
		if _, ok := c.open[conn]; ok {
			c.open[conn] = connState{s == http.StateActive, time.Now()}
		}
	default:
		delete(c.open, conn)
	}
}

// trim closes the connections above the limit that have waited longest for a request, or else those with
// the oldest requests. It spares young ones, which the server may not have read yet, and looks again
// when they are older. The caller holds mu.
func (c *connections) trim() {
	for len(c.open) > c.most {
		var first net.Conn
		for conn, s := range c.open {
			if s.mayClose() && (first == nil || s.before(c.open[first])) {
				first = conn
			}
		}
		if first == nil {
			break
		}
		delete(c.open, first)
		go first.Close() // TLS says goodbye first
	}
	if len(c.open) > c.most && !c.waits {
		c.waits = true
		time.AfterFunc(waitingAge/4, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.waits = false
			c.trim()
		})
	}
}

func (s connState) mayClose() bool {
	least := waitingAge
	if s.busy {
		least = busyAge
	}
	return time.Since(s.since) >= least
}

func (s connState) before(other connState) bool {
	if s.busy != other.busy {
		return other.busy
	}
	return s.since.Before(other.since)
}

func limitBuffer(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // if it fails, the system's default applies
	}
}
