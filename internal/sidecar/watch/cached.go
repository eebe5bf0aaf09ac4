package watch

import "synthetic/internal/probe"

// cached is the usual share of prompt tokens that come from the prefix cache, on a linear scale.
type cached struct {
	// Turns learned, at most mostCached, and their mean share.
	Turns, Share float64
	// recent is the mean share of the last turns. While it is low, the cache is lost, and nothing is learned.
	recent float64
}

// leastCached turns are needed for a usual share, and it is a mean over mostCached.
const leastCached, mostCached = 100, 40_000

// learn adds the share of a turn.
func (c *cached) learn(share float64) {
	if c.Turns < leastCached || c.recent >= 0.8*c.Share {
		c.Turns = min(c.Turns+1, mostCached)
		c.Share += (share - c.Share) / c.Turns
	}
	c.recent += (share - c.recent) / min(c.Turns, 10)
}

func (c *cached) usual() probe.Opt[float64] {
	return probe.Opt[float64]{V: c.Share, OK: c.Turns >= leastCached}
}
