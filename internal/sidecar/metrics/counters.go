package metrics

import (
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// Sizes of the bounded label sets. A test compares them with the lists.
const (
	kinds   = 2
	phases  = 5
	signals = 2
)

// turnCounters are the counters of one kind of turn beside its tally.
type turnCounters struct {
	promptTokens, cachedTokens, cacheKnown, outputTokens float64
	reasoningTokens, withoutAnswer                       float64
	usageMissing, tokenEvents, coalesced                 float64

	// notJudged counts turns that an objective skipped because the prober was too late.
	notJudged float64
	// buffered counts turns whose tokens were held back on the way.
	buffered float64
}

type sloCounters struct {
	objective         slo.Objective
	turns, violations [kinds]float64
}

// usage counts tokens, also tokens of canceled turns, because they were spent. The value of an
// unknown number is 0.
func (c *turnCounters) usage(r *probe.Result) {
	c.promptTokens += float64(r.PromptTokens.V)
	c.outputTokens += float64(r.OutputTokens.V)
	c.reasoningTokens += float64(r.ReasoningTokens.V)
	if r.CachedTokens.OK && r.PromptTokens.OK {
		c.cachedTokens += float64(r.CachedTokens.V)
		c.cacheKnown += float64(r.PromptTokens.V)
	}
	if r.NoAnswer {
		c.withoutAnswer++
	}
	if r.UsageMissing && r.Events > 0 {
		c.usageMissing++
	}
	c.tokenEvents += float64(r.Events)
	c.coalesced += float64(r.Coalesced)
	if r.Buffered {
		c.buffered++
	}
}

func (c *sloCounters) judge(r *probe.Result) slo.Judgement {
	v := c.objective.Judge(*r)
	if v == slo.NotJudged {
		return v
	}
	k := r.Kind.Index()
	c.turns[k]++
	if v == slo.Bad {
		c.violations[k]++
	}
	return v
}
