package worlds

import (
	"math"
	"math/rand/v2"
	"time"
)

// How the simulated autoscaler works, and how long a new replica is of little
// use: it loads weights, then serves with an empty prefix cache.
const (
	scaleUp   = time.Minute
	scaleDown = 15 * time.Minute
	bootTime  = 3 * time.Minute
	coldTime  = 5 * time.Minute
)

// fleet is the replicas of a deployment by when each was asked for.
type fleet struct {
	asked []time.Duration
	// above and below are since when there were too few and too many.
	above, below time.Duration
}

// autoscaling lets replicas come and go with a load that follows the day. Those
// that are full queue; those that are cold serve slow turns.
func autoscaling(c *course, rng *rand.Rand) {
	demand := &course{level: make([]float32, len(c.level))}
	wander(0.12, 6*time.Minute, student)(demand, rng)
	officeHours(1.2)(demand, rng)
	f := fleet{asked: []time.Duration{-day, -day, -day, -day}}
	for i, d := range demand.level {
		at, load := time.Duration(i)*courseStep, 2.6*math.Exp(float64(d))
		f.scale(at, int(math.Ceil(load/0.7)))
		ready, cold := f.serving(at)
		c.level[i] += float32(0.9 * min(1, max(0, load/ready-0.65)))
		c.slow[i] += float32(cold / ready)
	}
}

// scale asks for replicas, or lets the last ones go.
func (f *fleet) scale(at time.Duration, wanted int) {
	wanted = max(3, wanted)
	if wanted <= len(f.asked) {
		f.above = at
	}
	if wanted >= len(f.asked) {
		f.below = at
	}
	for at-f.above >= scaleUp && wanted > len(f.asked) {
		f.asked = append(f.asked, at)
	}
	if at-f.below >= scaleDown {
		f.asked, f.below = f.asked[:len(f.asked)-1], at
	}
}

// serving are the replicas that answer, and what part of them is cold: a cache
// fills little by little.
func (f *fleet) serving(at time.Duration) (ready, cold float64) {
	for _, asked := range f.asked {
		age := at - asked - bootTime
		if age < 0 {
			continue
		}
		ready++
		cold += max(0, 1-age.Seconds()/coldTime.Seconds())
	}
	return ready, cold
}
