// Package lag measures how late this process is: how long its goroutines wait after they were
// due, for lack of CPU, because the process was stopped, or because of other goroutines. A
// latency that the prober measures while it is late may be its own lateness.
package lag

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// interval is how long the monitor sleeps. It may miss interruptions that are shorter, and the
// same length of longer ones.
const interval = 25 * time.Millisecond

// The bounds of Tolerance. Below minTolerance, the timers of a healthy machine would count.
// Dialogues have no latencies above MaxTolerance.
const (
	minTolerance = 20 * time.Millisecond
	MaxTolerance = time.Second
)

// Tolerance is how late the prober may have been for a latency that is compared with d: a tenth
// of it, between 20 ms and 1 s.
func Tolerance(d time.Duration) time.Duration {
	return min(max(d/10, minTolerance), MaxTolerance)
}

// Monitor measures how late this process is. Use New. A nil *Monitor measures no lateness. It is
// safe for concurrent use.
type Monitor struct {
	epoch time.Time

	mu  sync.Mutex
	log log
}

// New returns a Monitor. It measures while Run runs.
func New() *Monitor { return &Monitor{epoch: time.Now()} }

// Run measures until ctx is done. After each sleep, its goroutine queues behind all others that
// are ready, as the probers' goroutines do.
func (m *Monitor) Run(ctx context.Context) error {
	if m == nil {
		<-ctx.Done()
		return nil
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	m.locked(func(now time.Duration) { m.log.wake(now) })
	defer m.locked(func(time.Duration) { m.log.due = 0 })
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		runtime.Gosched()
		m.locked(func(now time.Duration) { m.log.wake(now) })
		timer.Reset(interval)
	}
}

// locked calls f with the time since the epoch.
func (m *Monitor) locked(f func(now time.Duration)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(time.Since(m.epoch))
}

// Between returns the longest interruption between two times, and the sum of all. The current
// one counts up to now.
func (m *Monitor) Between(from, to time.Time) (longest, lost time.Duration) {
	if m != nil {
		m.locked(func(now time.Duration) {
			longest, lost = m.log.between(from.Sub(m.epoch), to.Sub(m.epoch), now)
		})
	}
	return longest, lost
}

// Lag returns the lateness of the last minute: in more than 5 % of its time the process was at
// least so late. Less than 10 ms is 0.
func (m *Monitor) Lag() (lag time.Duration) {
	if m != nil {
		m.locked(func(now time.Duration) { lag = m.log.lag(now) })
	}
	return lag
}
