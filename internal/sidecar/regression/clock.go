package regression

import "time"

// clock reads times so that a step of the wall clock changes nothing: the date
// is that of the first reading, and what passes since is monotonic.
type clock struct{ start time.Time }

// at is the wall time of a reading, in UTC.
func (c *clock) at(now time.Time) time.Time {
	if c.start.IsZero() {
		c.start = now
	}
	return c.start.UTC().Round(0).Add(now.Sub(c.start))
}
