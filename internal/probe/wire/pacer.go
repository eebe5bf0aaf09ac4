package wire

import (
	"sync"
	"time"
)

// What a peer costs this process is not measured but modelled, so that a slow
// machine paces no other way than a fast one: the clock of a process cannot tell
// whom its time was spent on. The model is above what the dearest of legitimate
// streams cost (BenchmarkCost), so that what it allows is there.
const (
	// readCost is a system call, two switches of goroutines and the timers.
	readCost = 10 * time.Microsecond
	// byteCost is what one byte costs that says least: an empty line, or a chunk
	// of one byte.
	byteCost = 40 * time.Nanosecond
	// dialCost and handshakeCost are those of a new connection; the latter is
	// the checking of a chain of certificates.
	dialCost      = 200 * time.Microsecond
	handshakeCost = 2 * time.Millisecond

	// paceShare is the share of one core that one target may take in the long
	// run. 32 conversations with 100 tokens/s each, in events of 300 bytes of
	// their own reads, take 0.07 by this model.
	paceShare = 0.2
	// paceBurst may be spent at once: what 32 conversations cost that begin
	// together over TLS.
	paceBurst = 100 * time.Millisecond
	// maxPause bounds one wait.
	maxPause = time.Second
)

func costOfRead(n int) time.Duration { return readCost + costOfBytes(n) }

func costOfBytes(n int) time.Duration { return time.Duration(n) * byteCost }

// Pacer holds one target to its share of this process's CPU: whoever has spent
// more than that reads later. Nothing that arrives is lost for it; the
// sender is made to wait by TCP. Body.Paced says what it may have cost a latency. One Pacer serves all connections of a
// target, its zero value is ready, and a nil Pacer delays nothing. It is safe
// for concurrent use.
type Pacer struct {
	mu     sync.Mutex
	at     time.Time
	owed   time.Duration // of CPU, spent and not paid by the passing of time
	waited time.Duration
}

// Waited returns for how long reads were delayed, all connections together.
func (p *Pacer) Waited() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waited
}

// spend takes what something has cost.
func (p *Pacer) spend(cost time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pay()
	p.owed += cost
}

// pay takes off what the time since the last look has paid.
func (p *Pacer) pay() {
	now := time.Now()
	p.owed = max(p.owed-time.Duration(float64(now.Sub(p.at))*paceShare), 0)
	p.at = now
}

// due is how long the next read has to wait.
func (p *Pacer) due() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pay()
	return min(time.Duration(float64(p.owed-paceBurst)/paceShare), maxPause)
}

// wait waits until there is something to spend, at most until the deadline (the
// zero time is none) or until given up. It returns for how long.
func (p *Pacer) wait(giveUp <-chan struct{}, deadline time.Time) time.Duration {
	if p == nil {
		return 0
	}
	d := p.due()
	if d > 0 && !deadline.IsZero() {
		d = min(d, time.Until(deadline))
	}
	if d <= 0 {
		return 0
	}
	begin := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-giveUp:
	}
	waited := time.Since(begin)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waited += waited
	return waited
}
