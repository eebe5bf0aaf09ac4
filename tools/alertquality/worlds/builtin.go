package worlds

import (
	"math"
	"math/rand/v2"
)

// mixed is a batch of short and long prompts: every fourth turn waits behind long prompts. Both
// kinds have heavy tails.
func mixed(rng *rand.Rand) float64 {
	if rng.Float64() < 0.75 {
		return -0.2 + 0.7*student(rng)
	}
	return 0.6 + 1.2*student(rng)
}

// pareto is a normal body with a tail of 5 % that falls with a power of 1.7, cut at a factor of
// 80. It is meant for a Sigma of 0.35.
func pareto(rng *rand.Rand) float64 {
	v := rng.NormFloat64()
	if rng.Float64() < 0.05 {
		v += min(rng.ExpFloat64()/1.7, math.Log(80)) / 0.35
	}
	return v
}

// times draws the logarithm of a factor between two bounds.
func times(least, most float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return uniform(rng, math.Log(least), math.Log(most)) }
}

// Tokens of a prompt: those that the prefix cache holds, and the others of a short prompt.
const (
	reused     = 1200
	shortFresh = 300
)

// prompt draws the number of uncached tokens of a prompt.
func (m Model) prompt(c *course, i int, rng *rand.Rand) int {
	if m.long > 0 && rng.Float64() < float64(c.long[i]) {
		return m.long
	}
	return shortFresh
}

// prefill returns the factor on the TTFT of a prompt with some uncached tokens: 1 for a short prompt. Most of the TTFT
// grows with them.
func prefill(uncached int) float64 { return 0.4 + 0.6*float64(uncached)/shortFresh }

// deviation draws the natural logarithm of a turn's TTFT relative to the median, and whether
// the turn missed the prefix cache.
func (m Model) deviation(c *course, i int, rng *rand.Rand) (log float64, missed bool) {
	body := m.body
	if body == nil {
		body = normal
	}
	log = float64(c.level[i]) + m.Sigma*float64(c.spread[i])*body(rng)
	if m.slow != nil && rng.Float64() < float64(c.slow[i]) {
		log += m.slow(rng)
		missed = m.misses
	}
	if rng.Float64() < m.Outliers {
		log += uniform(rng, math.Log(m.OutlierMin), math.Log(m.OutlierMax))
	}
	return log, missed
}
