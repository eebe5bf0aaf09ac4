// Package lag says how late this process is: by how much its goroutines run
// after they were due, be it for want of CPU, a stopped process or a crowd of
// other goroutines. What a prober measures while it is late may be its own
// lateness.
package lag

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// interval is how long the monitor sleeps. Gaps shorter than it may be missed,
// and of longer ones a part as long.
const interval = 25 * time.Millisecond

// The bounds of what Tolerance returns. Below the least, the timers of a machine
// that is well would count; more than the most is no latency of a dialogue.
const (
	leastTolerance = 20 * time.Millisecond
	MaxTolerance   = time.Second
)

// Tolerance is how late the prober may have been for a latency to be compared
// with d: a tenth of it, between 20 ms and 1 s.
func Tolerance(d time.Duration) time.Duration {
	return min(max(d/10, leastTolerance), MaxTolerance)
}

// Monitor watches how late this process is. The zero value is not usable; a nil
// *Monitor never saw any lateness. It is safe for concurrent use.
type Monitor struct {
	epoch time.Time

	mu  sync.Mutex
	log log
}

// New returns a Monitor, which sees what happens while Run runs.
func New() *Monitor { return &Monitor{epoch: time.Now()} }

// Run watches until ctx is done. After its sleep the goroutine queues once more
// behind all others that are ready, as theirs do.
func (m *Monitor) Run(ctx context.Context) error {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	m.rest()
	defer m.stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		runtime.Gosched()
		m.rest()
		timer.Reset(interval)
	}
}

// rest takes down how late the monitor is, and until when it sleeps.
func (m *Monitor) rest() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Since(m.epoch)
	m.log.ran(now)
	m.log.due = now + interval
}

// stop ends the watch: from now on nothing is due.
func (m *Monitor) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log.due = 0
}

// Between returns the longest time without a break, and the time in all, that
// the process was late between two times. A gap that has not ended counts up to
// now.
func (m *Monitor) Between(from, to time.Time) (longest, lost time.Duration) {
	if m == nil {
		return 0, 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log.between(from.Sub(m.epoch), to.Sub(m.epoch), time.Since(m.epoch))
}

// Lag is the lateness of the last minute: in more than 5 % of its time the
// process was at least so late. Less than 10 ms is 0.
func (m *Monitor) Lag() time.Duration {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log.lag(time.Since(m.epoch))
}
