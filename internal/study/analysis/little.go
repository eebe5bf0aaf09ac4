package analysis

import (
	"math"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// Little is the check of a level by Little's law: turns in flight are turns
// per second times the mean time that one takes.
type Little struct {
	Known bool
	// InFlight was measured, or wanted; Product is rate × time.
	InFlight, Product float64
	// Rate in turns/s and Seconds per turn.
	Rate, Seconds float64
	// Median says that the median stands in for a mean that is not known.
	Median bool
}

// CheckLittle checks one level. A closed loop without think time holds as many
// turns in flight as the level says, unless they were counted.
func CheckLittle(s *figures.Study, l figures.Level) Little {
	c := Little{InFlight: l.Value(figures.InFlightMean), Rate: l.Value(figures.TurnsPerSecond), Seconds: l.Value(figures.TurnTimeMean) / 1000}
	if math.IsNaN(c.Seconds) {
		c.Seconds = l.Value(figures.LatencyMean) / 1000
	}
	if math.IsNaN(c.Seconds) {
		c.Seconds, c.Median = l.Value(figures.LatencyP50)/1000, true
	}
	if math.IsNaN(c.InFlight) && s.Kind == runfile.Concurrency {
		c.InFlight = l.At
	}
	c.Product = c.Rate * c.Seconds
	c.Known = !math.IsNaN(c.Product) && !math.IsNaN(c.InFlight) && c.InFlight > 0
	return c
}

// Off is how far the law is missed, as a share.
func (c Little) Off() float64 { return c.Product/c.InFlight - 1 }

// Holds allows 10 % for turns that straddle the interval's ends, and twice
// that where a median stands in for the mean.
func (c Little) Holds() bool {
	limit := 0.1
	if c.Median {
		limit = 0.2
	}
	return !c.Known || math.Abs(c.Off()) <= limit
}
