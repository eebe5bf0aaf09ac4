package regression

import (
	"math"
	"time"

	"synthetic/internal/probe"
)

// cached knows the usual share of prompt tokens that come from the prefix
// cache. It learns as the baselines do, on the plain scale.
type cached struct{ baseline *baseline }

func (c *cached) observe(r *probe.Result, at time.Time, unsuitable bool) {
	if !r.CachedTokens.OK || !r.PromptTokens.OK || r.PromptTokens.V <= 0 {
		return
	}
	if c.baseline == nil {
		c.baseline = newBaseline()
	}
	c.baseline.roll(at, c.mayLearn)
	c.baseline.block.add(float64(r.CachedTokens.V) / float64(r.PromptTokens.V))
	c.baseline.block.unsuitable = c.baseline.block.unsuitable || unsuitable
}

// mayLearn refuses half hours in which a good part of the usual hits is gone.
func (c *cached) mayLearn(b *block) bool {
	return !c.baseline.mature() || b.mean >= 0.8*c.baseline.at(b.start)
}

func (c *cached) usual(at time.Time) float64 {
	if c.baseline == nil || !c.baseline.mature() {
		return math.NaN()
	}
	return min(max(c.baseline.at(at), 0), 1)
}
