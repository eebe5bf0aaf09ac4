package regression

import "synthetic/internal/probe"

// Prefill are the sums of a straight line through the time to first token over
// the prompt tokens that the cache did not serve. Its slope is the prefill, in
// seconds per token; its value at 0 is the queue and what else every turn pays.
type Prefill struct {
	// Turns whose usage said how many tokens were cached, and which got a first
	// token.
	Turns float64
	// Uncached is the sum of their uncached prompt tokens, Squared that of the
	// squares.
	Uncached, Squared float64
	// Seconds is the sum of their times to first token, Product that of the
	// products of both.
	Seconds, Product float64
}

func (p *Prefill) observe(r *probe.Result) {
	if !r.TTFT.OK || !r.PromptTokens.OK || !r.CachedTokens.OK {
		return
	}
	u, t := float64(max(0, r.PromptTokens.V-r.CachedTokens.V)), r.TTFT.V.Seconds()
	p.Turns++
	p.Uncached += u
	p.Squared += u * u
	p.Seconds += t
	p.Product += u * t
}
