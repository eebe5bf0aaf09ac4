package workload

import (
	"math"
	"math/rand/v2"
	"time"
)

// Schedule gives the start times of an open-loop arrival process as offsets
// from its beginning. They depend on the process, the seed and the count
// alone, never on what was started before. It is not safe for concurrent use.
type Schedule struct {
	arrival Arrival
	rng     *rand.Rand
	first   float64 // seconds
	at      float64 // seconds
	count   uint64
}

// NewSchedule returns the schedule of an arrival process with a positive Rate.
// Its first start is at offset (see Phase), whatever the process, so that the
// first sample of a slow process does not keep one waiting.
func NewSchedule(a Arrival, seed uint64, offset time.Duration) *Schedule {
	return &Schedule{arrival: a, rng: newRand(seed), first: offset.Seconds()}
}

// Next returns the offset of the next start; it never decreases.
func (s *Schedule) Next() time.Duration {
	switch {
	case s.count == 0:
		s.at = s.first
	case s.arrival.Process == Constant:
		// Not a sum, so that rounding does not add up over months.
		s.at = s.first + float64(s.count)/s.arrival.Rate
	default:
		s.at += s.interval()
	}
	s.count++
	return seconds(s.at)
}

// interval draws the time to the next start in seconds; its mean is 1/Rate.
func (s *Schedule) interval() float64 {
	shape := s.arrival.Burstiness
	if s.arrival.Process != Gamma || shape <= 0 || shape == 1 {
		return s.rng.ExpFloat64() / s.arrival.Rate
	}
	return gamma(s.rng, shape) / (shape * s.arrival.Rate)
}

// gamma draws from the gamma distribution with the given shape and scale 1, by
// Marsaglia and Tsang's method (2000).
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

// Phase returns how long from now to the first start of a process of the given
// rate (per second): a point in the mean interval, picked by hash and fixed to
// the wall clock. Replicas with different hashes do not fire together whenever
// they were started, and a reload does not move a job's phase.
func Phase(now time.Time, rate float64, hash uint64) time.Duration {
	interval := float64(time.Second) / rate
	if interval >= math.MaxInt64 {
		interval = math.MaxInt64 / 2
	}
	into := math.Mod(float64(now.UnixNano()), interval)
	wait := float64(hash)/(1<<64)*interval - into
	if wait < 0 {
		wait += interval
	}
	return time.Duration(wait)
}

// seconds converts to a duration; what is too long for one is the longest.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}
