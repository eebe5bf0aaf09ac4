package cause

import (
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

// Cached is the usual share of prompt tokens that come from the prefix cache, on a linear scale.
type Cached struct {
	// Turns learned, at most mostCached, and their mean share.
	Turns float64 `json:"turns"`
	Share float64 `json:"share"`
	// Low is since when the cache is lost, and nothing is learned; zero while it works.
	Low time.Time `json:"low,omitzero"`
	// recent is the mean share of the last turns.
	recent float64
}

// leastCached turns are needed for a usual share, and it is a mean over mostCached.
const leastCached, mostCached = 100, 40_000

// learn adds the share of a turn that ended. A share that is low for four weeks is learned anew.
func (c *Cached) learn(share float64, end time.Time) {
	share = min(share, 1)
	switch {
	case c.Turns < leastCached || c.recent >= 0.8*c.Share:
		c.Low = time.Time{}
		c.Turns = min(c.Turns+1, mostCached)
		c.Share += (share - c.Share) / c.Turns
	case c.Low.IsZero():
		c.Low = end
	case end.Sub(c.Low) > 4*fleet.Week:
		*c = Cached{Turns: 1, Share: share}
	}
	c.recent += (share - c.recent) / min(c.Turns, 10)
}

// Cached returns the usual share of cached prompt tokens, unknown without enough turns.
func (p *Comparison) Cached() probe.Opt[float64] {
	c := &p.usual.Cached
	return probe.Opt[float64]{V: c.Share, OK: c.Turns >= leastCached}
}
