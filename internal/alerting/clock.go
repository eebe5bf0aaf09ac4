package alerting

import (
	"sync/atomic"
	"time"
)

// clock gives the time that samples and evaluations carry. It runs with the
// monotonic clock, so that a step of the wall clock neither opens a gap in the
// series, nor makes samples out of order, nor lets a waiting alert jump ahead.
// What leaves the pager is translated to the wall clock of that moment.
type clock struct {
	wall  func() time.Time
	base  time.Time // the clock's time at start
	start time.Time // has a monotonic reading
	// ahead is what advance added, in nanoseconds.
	ahead atomic.Int64
}

// newClock goes on with the clock of an earlier process, so that a restart after
// a step opens no gap either, or starts at the wall clock's time.
func newClock(wall func() time.Time, before savedStates) *clock {
	base := wall()
	if at, known := before.resumed(base); known {
		base = at
	}
	return &clock{wall: wall, base: base.Round(0), start: time.Now()}
}

// now never goes back while the process lives.
func (c *clock) now() time.Time {
	return c.base.Add(time.Since(c.start) + time.Duration(c.ahead.Load()))
}

// advance sets the clock forward to a time, if that lies ahead: no sample may be
// older than what is stored.
func (c *clock) advance(to time.Time) {
	if by := to.Sub(c.now()); by > 0 {
		c.ahead.Add(int64(by))
	}
}

// tolerated is how far apart the two clocks may run before times are
// translated: what a step is, and what is only the time between two readings.
const tolerated = time.Second

// step is how far the wall clock is ahead of the pager's.
func (c *clock) step() time.Duration {
	d := c.wall().Round(0).Sub(c.now())
	if d.Abs() < tolerated {
		return 0
	}
	return d
}

// toWall translates a time of this clock.
func (c *clock) toWall(t time.Time) time.Time { return shift(t, c.step()) }

// shift moves a time. The zero time, which means none, stays zero.
func shift(t time.Time, by time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(by)
}
