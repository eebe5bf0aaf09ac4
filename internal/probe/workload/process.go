package workload

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mathext"
)

// Process is how conversation starts are distributed over time.
type Process string

const (
	Constant Process = "constant" // equal intervals
	Poisson  Process = "poisson"  // exponentially distributed intervals
	// Gamma has gamma distributed intervals with the shape Burstiness: 1 is Poisson, below 1 is
	// burstier, above 1 more regular.
	Gamma  Process = "gamma"
	Closed Process = "closed" // keeps Concurrency conversations in flight
)

// Arrival configures a process.
type Arrival struct {
	Process Process `yaml:"process" default:"poisson" enum:"poisson,constant,gamma,closed"`
	// Rate is in conversations per second; Closed has none. docs/background/alert-quality.md
	// explains the default.
	Rate float64 `yaml:"rate" default:"0.033" above:"0" max:"10000"`
	// Burstiness is for Gamma; 0 means 1. Concurrency is for Closed.
	Burstiness  float64 `yaml:"burstiness" default:"1" above:"0" max:"1000"`
	Concurrency int     `yaml:"concurrency" min:"1" max:"100000" examples:"4"`
}

// Traffic says when and how often one workload is sent to one target.
type Traffic struct {
	Arrival
	// Starts above these limits are skipped and counted; 0 means no limit. MaxConcurrency limits the
	// conversations in flight, Budget limits prompt and output tokens together.
	MaxConcurrency int
	Budget         TokenBudget
	// Hours says when conversations start at all.
	Hours Hours
	// BurstRate is the rate of bursts in conversations per second. Unless it is above Rate, there are
	// no bursts.
	BurstRate float64
}

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
	return mathext.GammaIncRegInv(shape, s.rng.Float64()) / (shape * s.arrival.Rate)
}

// Phase returns the time from now to the first start of a process with a rate per second. It is
// a point in the mean interval that depends on hash and the wall clock. Replicas with different
// hashes therefore do not start at the same times, and a reload does not change the times of a
// job.
func Phase(now time.Time, rate float64, hash uint64) time.Duration {
	interval := min(float64(time.Second)/rate, math.MaxInt64/2)
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

// Hash returns a well mixed number that is the same in every process. It spreads replicas and
// jobs over time.
func Hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0}) // so that ("ab", "c") is not ("a", "bc")
	}
	return mix(h.Sum64())
}

// mix is the finalizer of splitmix64. It is needed because FNV's upper bits differ little for
// short similar strings.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// newRand returns a random source that depends on all keys.
func newRand(keys ...uint64) *rand.Rand {
	var a uint64
	for _, k := range keys {
		a = mix(a ^ mix(k))
	}
	return rand.New(rand.NewPCG(a, mix(a)))
}
