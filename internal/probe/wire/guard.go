package wire

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"synthetic/internal/probe/stream"
)

// guarded is a connection below TLS, where nothing that a peer sends can pass
// uncounted: it counts what arrives, reads no faster than its pacer allows, and
// gives its place back when it is closed.
type guarded struct {
	stamped
	pacer   *Pacer
	release func()
	closing sync.Once
	closed  chan struct{}

	received atomic.Int64 // bytes
	// waited is for how long the reads waited for the pacer that brought what
	// arrived last, longest the longest wait of the request; nanoseconds.
	waited, longest atomic.Int64
	told            atomic.Bool // of what arrived last

	mu       sync.Mutex
	deadline time.Time // of reads
}

func guard(c stamped, pacer *Pacer, release func()) *guarded {
	return &guarded{stamped: c, pacer: pacer, release: release, closed: make(chan struct{})}
}

// Read reads what has arrived once it is this target's turn. What waits, waits
// in the system's buffer, and then with the sender; segments that wait together
// may all get the time of the last.
func (g *guarded) Read(p []byte) (int, error) {
	g.mu.Lock()
	deadline := g.deadline
	g.mu.Unlock()
	g.wait(deadline)
	n, err := g.stamped.Read(p)
	g.pacer.spend(costOfRead(n))
	g.received.Add(int64(n))
	return n, err
}

// wait waits for the pacer. TLS may read several times for what it gives.
func (g *guarded) wait(deadline time.Time) {
	if g.told.Swap(false) {
		g.waited.Store(0)
	}
	d := int64(g.pacer.wait(g.closed, deadline))
	g.waited.Add(d)
	g.longest.Store(max(g.longest.Load(), d))
}

// forget begins a request.
func (g *guarded) forget() {
	g.waited.Store(0)
	g.longest.Store(0)
}

// arrival does not take the waits for the pacer for lateness of this process.
func (g *guarded) arrival() stream.Arrival {
	a := g.stamped.arrival()
	g.told.Store(true)
	if waited := time.Duration(g.waited.Load()); waited > 0 {
		a.Seen = a.Seen.Add(-min(waited, a.Seen.Sub(a.At)))
	}
	return a
}

// SetReadDeadline bounds the waits for the pacer, too.
func (g *guarded) SetReadDeadline(t time.Time) error {
	g.bound(t)
	return g.stamped.SetReadDeadline(t)
}

// SetDeadline is SetReadDeadline for writes, too.
func (g *guarded) SetDeadline(t time.Time) error {
	g.bound(t)
	return g.stamped.SetDeadline(t)
}

func (g *guarded) bound(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deadline = t
}

// Close ends a wait for the pacer, too.
func (g *guarded) Close() error {
	err := net.ErrClosed
	g.closing.Do(func() {
		close(g.closed)
		err = g.stamped.Close()
		g.release()
	})
	return err
}
