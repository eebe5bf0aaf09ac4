package alerting

import (
	"sync/atomic"
	"time"
)

// clock is the time of samples and evaluations. It follows the monotonic clock, so a step of
// the wall clock causes no gap in series, no samples out of order, and no early alert. Times
// that leave the pager are converted to the wall clock.
type clock struct {
	wall  func() time.Time
	base  time.Time // this clock's time at the start
	start time.Time // has a monotonic reading
	// nanoseconds added by advance
	ahead atomic.Int64
}

// newClock continues the clock of an earlier process, so that a restart after a step opens no
// gap, or starts at the wall clock's time.
func newClock(wall func() time.Time, before savedStates) *clock {
	base := wall()
	if at, known := before.resumed(base); known {
		base = at
	}
	return &clock{wall: wall, base: base.Round(0), start: time.Now()}
}

// now never goes back within a process.
func (c *clock) now() time.Time {
	return c.base.Add(time.Since(c.start) + time.Duration(c.ahead.Load()))
}

// advance sets the clock forward to a later time, because no sample may be older than a stored
// one.
func (c *clock) advance(to time.Time) {
	if by := to.Sub(c.now()); by > 0 {
		c.ahead.Add(int64(by))
	}
}

// tolerated is the largest difference of the clocks that is not a step, but the time between
// two readings.
const tolerated = time.Second

// step returns how far the wall clock is ahead of the pager's.
func (c *clock) step() time.Duration {
	d := c.wall().Round(0).Sub(c.now())
	if d.Abs() < tolerated {
		return 0
	}
	return d
}

// toWall converts a time of this clock to the wall clock.
func (c *clock) toWall(t time.Time) time.Time { return shift(t, c.step()) }

// shift moves a time. The zero time, which means none, stays zero.
func shift(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(by)
}
