package workload

import (
	"math"
	"math/rand/v2"
	"time"
)

// Schedule returns the start times of an open-loop process, as offsets from its begin. They
// depend only on the process, the seed and the count. It is not safe for concurrent use.
type Schedule struct {
	arrival Arrival
	rng     *rand.Rand
	first   float64 // seconds
	at      float64 // seconds
	count   uint64
}

// NewSchedule returns the schedule of a process with a positive Rate. The first start is at
// offset (see Phase) for every process, so that a slow process does not wait long for its first
// sample.
func NewSchedule(a Arrival, seed uint64, offset time.Duration) *Schedule {
	return &Schedule{arrival: a, rng: newRand(seed), first: offset.Seconds()}
}

// Next returns the offset of the next start. It never decreases.
func (s *Schedule) Next() time.Duration {
	switch {
	case s.count == 0:
		s.at = s.first
	case s.arrival.Process == Constant:
		// A product, so that rounding errors do not add up over months.
		s.at = s.first + float64(s.count)/s.arrival.Rate
	default:
		s.at += s.interval()
	}
	s.count++
	return seconds(s.at)
}

// interval draws the seconds to the next start. Its mean is 1/Rate.
func (s *Schedule) interval() float64 {
	shape := s.arrival.Burstiness
	if s.arrival.Process != Gamma || shape <= 0 || shape == 1 {
		return s.rng.ExpFloat64() / s.arrival.Rate
	}
	return gamma(s.rng, shape) / (shape * s.arrival.Rate)
}

// gamma draws from the gamma distribution with scale 1, with Marsaglia and Tsang's method
// (2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// Phase returns the time from now to the first start of a process with a rate per second. It is
// a point in the mean interval that depends on hash and the wall clock. Replicas with different
// hashes therefore do not start at the same times, and a reload does not change the times of a
// job.
func Phase(now time.Time, rate float64, hash uint64) time.Duration {
	interval := float64(time.Second) / rate
	if interval >= math.MaxInt64 {
		interval = math.MaxInt64 / 2
	}
	elapsed := math.Mod(float64(now.UnixNano()), interval)
	wait := float64(hash)/(1<<64)*interval - elapsed
	if wait < 0 {
		wait += interval
	}
	return time.Duration(wait)
}

// seconds converts to a duration. Too large values become the longest duration.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}
