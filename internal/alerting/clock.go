package alerting

import (
	"sync/atomic"
	"time"
)

// clock is the time of samples and evaluations. It follows the monotonic clock, so a step of the
// wall clock causes no gap in series, no samples out of order, and no early alert. Times that
// leave the pager are converted to the wall clock.
type clock struct {
	wall     func() time.Time
	base     time.Time    // this clock's time at the start
	start    time.Time    // has a monotonic reading
	advanced atomic.Int64 // nanoseconds, by advance
}

// newClock continues the clock of an earlier process, so that a restart after a step of the wall
// clock causes no gap. Otherwise it starts at the wall clock's time.
func newClock(wall func() time.Time, saved savedStates) *clock {
	base := wall()
	if at, known := saved.resumed(base); known {
		base = at
	}
	return &clock{wall: wall, base: base.Round(0), start: time.Now()}
}

// now never goes back within a process.
func (c *clock) now() time.Time {
	return c.base.Add(time.Since(c.start) + time.Duration(c.advanced.Load()))
}

// advance sets the clock forward to a later time, because no sample may be older than a stored
// one.
func (c *clock) advance(to time.Time) {
	if gap := to.Sub(c.now()); gap > 0 {
		c.advanced.Add(int64(gap))
	}
}

// tolerance is the largest difference of the clocks that does not count as a step: the two are read
// one after the other.
const tolerance = time.Second

// step returns how far the wall clock is ahead of the pager's.
func (c *clock) step() time.Duration {
	d := c.wall().Round(0).Sub(c.now())
	if d.Abs() < tolerance {
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
