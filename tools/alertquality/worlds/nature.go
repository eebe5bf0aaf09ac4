package worlds

import (
	"math"
	"math/rand/v2"
)

// nature is what a named model has beside its parameters.
type nature struct {
	about string
	// heldOut says that no constant of the detection was chosen on it.
	heldOut bool
	moves   []move
	// body draws how a single turn deviates, in place of a normal distribution;
	// its size is a multiple of sigma.
	body func(*rand.Rand) float64
	// slow draws the natural logarithm of how much longer a turn of the slow kind
	// takes. It reads nothing from the prefix cache if misses is set.
	slow   func(*rand.Rand) float64
	misses bool
	// pace is how much of the level the time per token feels; 0 is a third.
	pace float64
}

// mixed is a deployment that serves short and long prompts in one batch: three of
// four turns are ordinary, the fourth waits behind others. Tails are heavy.
func mixed(rng *rand.Rand) float64 {
	if rng.Float64() < 0.75 {
		return -0.2 + 0.7*student(rng)
	}
	return 0.6 + 1.2*student(rng)
}

// pareto is a normal body with a tail of 5 % that falls with a power of 1.7, cut
// where nobody waits any more. It is meant for a sigma of 0.35.
func pareto(rng *rand.Rand) float64 {
	v := rng.NormFloat64()
	if rng.Float64() < 0.05 {
		v += min(rng.ExpFloat64()/1.7, math.Log(80)) / 0.35
	}
	return v
}

// times is a slowdown by a factor between two.
func times(least, most float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return uniform(rng, math.Log(least), math.Log(most)) }
}

// deviation draws the natural logarithm of how a single turn's time to first token
// differs from the median, and whether it missed the prefix cache.
func (m Model) deviation(c *course, i int, rng *rand.Rand) (log float64, missed bool) {
	body := m.nature.body
	if body == nil {
		body = normal
	}
	log = float64(c.level[i]) + m.Sigma*float64(c.spread[i])*body(rng)
	if m.nature.slow != nil && rng.Float64() < float64(c.slow[i]) {
		log += m.nature.slow(rng)
		missed = m.nature.misses
	}
	if rng.Float64() < m.Outliers {
		log += uniform(rng, math.Log(m.OutlierMin), math.Log(m.OutlierMax))
	}
	return log, missed
}
