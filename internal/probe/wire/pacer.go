package wire

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"synthetic/internal/probe/stream"
)

// The CPU time that a peer costs is not measured, because the process cannot tell for whom it spent
// its time. It is estimated, so that a slow machine has the same limits as a fast one. The estimate
// is above the cost of the most expensive legitimate streams (BenchmarkCost).
const (
	// readCost includes a system call, two switches of goroutines and the timers.
	readCost = 10 * time.Microsecond
	// byteCost is the cost of the worst bytes: empty lines, or chunks of one byte.
	byteCost = 40 * time.Nanosecond
	dialCost = 200 * time.Microsecond
	// handshakeCost is mostly the verification of a chain of certificates.
	handshakeCost = 2 * time.Millisecond

	// paceShare is the share of one core that a target can use in the long run. By this estimate,
	// 32 conversations with 100 tokens/s each, in events of 300 bytes with a read each, use 0.07.
	paceShare = 0.2
	// paceBurst can be used at once. It is the cost of 32 conversations that start together over
	// TLS.
	paceBurst = 100 * time.Millisecond
	// maxPause bounds one wait.
	maxPause = time.Second
)

func costOfRead(n int) time.Duration { return readCost + costOfBytes(n) }

func costOfBytes(n int) time.Duration { return time.Duration(n) * byteCost }

// Pacer limits the CPU time that one target can cost this process: above the limit, its connections
// are read later. Nothing is lost, because TCP makes the sender wait. Body.Paced returns how much
// later. One Pacer serves all connections of a target. The zero value is usable; a nil Pacer delays
// nothing. It is safe for concurrent use.
type Pacer struct {
	mu     sync.Mutex
	at     time.Time     // when debt was last reduced
	debt   time.Duration // CPU time that passing time has not paid off
	waited time.Duration
}

// Waited returns the total delay of all reads.
func (p *Pacer) Waited() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waited
}

func (p *Pacer) spend(cost time.Duration) { p.spendAt(time.Now(), cost) }

// spendAt is spend for a caller that knows the time.
func (p *Pacer) spendAt(now time.Time, cost time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.payOff(now)
	p.debt += cost
}

// payOff reduces the debt by the share of the time since its last call.
func (p *Pacer) payOff(now time.Time) {
	if elapsed := now.Sub(p.at); elapsed > 0 {
		p.debt = max(p.debt-time.Duration(float64(elapsed)*paceShare), 0)
		p.at = now
	}
}

func (p *Pacer) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.debt <= paceBurst { // and less by now
		return 0
	}
	p.payOff(time.Now())
	return min(time.Duration(float64(p.debt-paceBurst)/paceShare), maxPause)
}

// wait waits until the debt allows a read, the deadline (if any) has passed, or giveUp is closed. It
// returns how long it waited.
func (p *Pacer) wait(giveUp <-chan struct{}, deadline time.Time) time.Duration {
	if p == nil {
		return 0
	}
	pause := p.pause()
	if pause > 0 && !deadline.IsZero() {
		pause = min(pause, time.Until(deadline))
	}
	if pause <= 0 {
		return 0
	}
	start := time.Now()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-giveUp:
	}
	waited := time.Since(start)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waited += waited
	return waited
}

// pacedConn is a connection below TLS, so that it sees every byte of the peer. It counts the
// received bytes, reads no faster than the pacer allows, and calls release when it is closed.
type pacedConn struct {
	timedConn
	pacer   *Pacer
	release func()
	closing sync.Once
	closed  chan struct{}

	received atomic.Int64 // bytes
	// waited, in nanoseconds, is how long the reads of the last arrival waited for the pacer.
	// longestWait is the longest such wait since reset. arrivalTaken says that the last arrival
	// has been returned, so that the next read starts another.
	waited, longestWait atomic.Int64
	arrivalTaken        atomic.Bool

	mu           sync.Mutex
	readDeadline time.Time
	wrote        time.Time // when the last Write returned
	// extend returns a later deadline for a peer that got everything at wrote; nil for none.
	extend func(deadline, wrote time.Time) time.Time
}

func newPacedConn(c timedConn, pacer *Pacer, release func()) *pacedConn {
	return &pacedConn{timedConn: c, pacer: pacer, release: release, closed: make(chan struct{})}
}

// Read waits for the pacer and then reads. Meanwhile the bytes wait in the kernel's buffer, and then
// at the sender. Segments that wait together can all get the timestamp of the last one.
func (c *pacedConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	deadline := c.readDeadline
	c.mu.Unlock()
	c.wait(deadline)
	n, err := c.timedConn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && c.extendDeadline() {
		n, err = c.timedConn.Read(p)
	}
	now := c.timedConn.arrival().Seen
	if n == 0 {
		now = time.Now()
	}
	c.pacer.spendAt(now, costOfRead(n))
	c.received.Add(int64(n))
	return n, err
}

func (c *pacedConn) Write(p []byte) (int, error) {
	n, err := c.timedConn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrote = time.Now()
	return n, err
}

func (c *pacedConn) lastWrite() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrote
}

// extendDeadline moves the deadline of the connection, but not that of the waits for the pacer. It
// returns false if the deadline stays.
func (c *pacedConn) extendDeadline() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.extend == nil {
		return false
	}
	later := c.extend(c.readDeadline, c.wrote)
	return later.After(c.readDeadline) && c.timedConn.SetReadDeadline(later) == nil
}

// setExtend sets how deadlines move; nil means not at all.
func (c *pacedConn) setExtend(extend func(deadline, wrote time.Time) time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extend = extend
}

// wait adds up the waits until the arrival is taken, because TLS can read several times for one
// result.
func (c *pacedConn) wait(deadline time.Time) {
	if c.arrivalTaken.Swap(false) {
		c.waited.Store(0)
	}
	waited := int64(c.pacer.wait(c.closed, deadline))
	c.waited.Add(waited)
	c.longestWait.Store(max(c.longestWait.Load(), waited))
}

// reset forgets the waits of the previous request.
func (c *pacedConn) reset() {
	c.waited.Store(0)
	c.longestWait.Store(0)
}

// arrival returns an arrival whose read lag does not include the waits for the pacer.
func (c *pacedConn) arrival() stream.Arrival {
	a := c.timedConn.arrival()
	c.arrivalTaken.Store(true)
	if waited := time.Duration(c.waited.Load()); waited > 0 {
		a.Seen = a.Seen.Add(-min(waited, a.Seen.Sub(a.At)))
	}
	return a
}

// SetReadDeadline also bounds the waits for the pacer.
func (c *pacedConn) SetReadDeadline(t time.Time) error {
	c.setWaitDeadline(t)
	return c.timedConn.SetReadDeadline(t)
}

func (c *pacedConn) SetDeadline(t time.Time) error {
	c.setWaitDeadline(t)
	return c.timedConn.SetDeadline(t)
}

func (c *pacedConn) setWaitDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline = t
}

// Close also ends a wait for the pacer.
func (c *pacedConn) Close() error {
	err := net.ErrClosed
	c.closing.Do(func() {
		close(c.closed)
		err = c.timedConn.Close()
		c.release()
	})
	return err
}
