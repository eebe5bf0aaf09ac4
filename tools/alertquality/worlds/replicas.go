package worlds

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Times of the simulated autoscaler. A new replica loads weights for bootTime, then has a cold
// prefix cache for coldTime.
const (
	scaleUp   = time.Minute
	scaleDown = 15 * time.Minute
	bootTime  = 3 * time.Minute
	coldTime  = 5 * time.Minute
)

// replicas holds the replicas of a deployment.
type replicas struct {
	least   int
	started []time.Duration
	// tooFewSince and tooManySince are the start of the current shortage and surplus.
	tooFewSince, tooManySince time.Duration
}

// autoscaling adds and removes replicas with a load, in replicas, that office hours multiply by up to exp(peak). Full
// replicas queue, cold replicas have slow turns.
func autoscaling(least int, night, peak float64) effect {
	wanted := func(load float64) int { return int(math.Ceil(load / 0.7)) }
	return func(c *course, rng *rand.Rand) {
		demand := &course{level: make([]float32, len(c.level))}
		wander(0.12, 6*time.Minute, student)(demand, rng)
		officeHours(peak)(demand, rng)
		f := replicas{least: least, started: slices.Repeat([]time.Duration{-day}, wanted(night))}
		for i, d := range demand.level {
			at, load := time.Duration(i)*courseStep, night*math.Exp(float64(d))
			f.scale(at, wanted(load))
			ready, cold := f.serving(at)
			c.level[i] += float32(0.9 * min(1, max(0, load/ready-0.65)))
			c.slow[i] += float32(cold / ready)
		}
	}
}

// scale starts replicas, or stops the newest one.
func (f *replicas) scale(at time.Duration, wanted int) {
	wanted = max(f.least, wanted)
	if wanted <= len(f.started) {
		f.tooFewSince = at
	}
	if wanted >= len(f.started) {
		f.tooManySince = at
	}
	for at-f.tooFewSince >= scaleUp && wanted > len(f.started) {
		f.started = append(f.started, at)
	}
	if at-f.tooManySince >= scaleDown {
		f.started, f.tooManySince = f.started[:len(f.started)-1], at
	}
}

// serving returns the number of ready replicas and how many of them are cold. A cache fills
// gradually, so a replica counts in part.
func (f *replicas) serving(at time.Duration) (ready, cold float64) {
	for _, start := range f.started {
		age := at - start - bootTime
		if age < 0 {
			continue
		}
		ready++
		cold += max(0, 1-age.Seconds()/coldTime.Seconds())
	}
	return ready, cold
}
