package watch

import (
	"time"

	"synthetic/internal/probe"
)

// cached learns the usual share of prompt tokens that come from the prefix cache, on a linear scale.
type cached struct{ usual usual }

func (c *cached) observe(r *probe.Result, at time.Time, unfit bool) {
	if !r.CachedTokens.OK || !r.PromptTokens.OK || r.PromptTokens.V <= 0 {
		return
	}
	// A half hour that lost a large part of the usual cache hits is not learned.
	c.usual.roll(at, func(e *entry, _ bool) bool {
		return c.usual.known < slots || float64(e.mean) >= 0.8*c.usual.at(startOf(e.number))
	})
	c.usual.block.add(float64(r.CachedTokens.V)/float64(r.PromptTokens.V), false)
	c.usual.block.unfit = c.usual.block.unfit || unfit
}

func (c *cached) at(t time.Time) (share probe.Opt[float64]) {
	if c.usual.known >= slots {
		share = probe.Some(min(max(c.usual.at(t), 0), 1))
	}
	return share
}
