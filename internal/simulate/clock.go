package simulate

import (
	"math"
	"time"
)

// clock maps the time of the world to that of a cluster. Under testing/synctest
// the world's time is the bubble's.
type clock struct {
	start time.Time     // in the world
	at    time.Duration // on the cluster, at the start
	speed float64       // cluster seconds per second of the world
}

// now is the cluster's time.
func (c clock) now() time.Duration {
	elapsed := time.Since(c.start)
	if c.speed != 1 { // without the rounding of floats: exact to the nanosecond
		elapsed = time.Duration(float64(elapsed) * c.speed)
	}
	return c.at + elapsed
}

// until is how long the world has to wait for a time of the cluster; never
// too short, for a wait that ends early would have to be repeated.
func (c clock) until(at time.Duration) time.Duration {
	left := at - c.now()
	if c.speed != 1 {
		left = time.Duration(math.Ceil(float64(left) / c.speed))
	}
	return max(left, 0)
}
