package serverside

import (
	"math"

	"synthetic/internal/probe"
)

// Speculation describes speculative decoding since the previous reading.
type Speculation struct {
	// Drafted and Accepted are numbers of tokens. Counted is true if the deployment counts them.
	Drafted, Accepted float64
	Counted           bool
	// Acceptance is the share of accepted draft tokens, from 0 to 1, as averaged by a deployment
	// without counters. It is unknown if the deployment drafted nothing.
	Acceptance probe.Opt[float64]
}

// speculation compares two readings of one page. previous is the zero Sample at the first
// reading, whose counts are not used. A fall of a counter means a restart. Then the increase is
// not used either, because on a page with several engines any of them may have restarted.
func speculation(previous, current Sample) (s Speculation) {
	draftedNow, acceptedNow := current.number(drafted), current.number(accepted)
	if s.Counted = draftedNow.OK && acceptedNow.OK; !s.Counted {
		s.Acceptance = averageAcceptance(previous, current)
		return s
	}
	draftedBefore, acceptedBefore := previous.number(drafted), previous.number(accepted)
	d, a := draftedNow.V-draftedBefore.V, acceptedNow.V-acceptedBefore.V
	if draftedBefore.OK && acceptedBefore.OK && d >= 0 && a >= 0 {
		s.Drafted, s.Accepted = d, a
	}
	return s
}

// averageAcceptance returns the server's own average, if it is meaningful. An idle server keeps
// showing its last value, and a server without speculation shows 0. The accepted length
// distinguishes that 0 from bad drafts, because each step yields at least one token.
func averageAcceptance(previous, current Sample) probe.Opt[float64] {
	average, tokens := current.number(acceptance), current.number(outputTokens)
	idle := tokens.OK && (!previous.number(outputTokens).OK || tokens == previous.number(outputTokens))
	if average.V < 0 || average.V > 1 || idle || average.V == 0 && current.number(acceptedLength).V <= 0 {
		return probe.Opt[float64]{}
	}
	return average
}

// number returns a figure of the sample; unknown if it is missing or not a finite number.
func (s Sample) number(r role) probe.Opt[float64] {
	v, ok := s.values[r]
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return probe.Opt[float64]{}
	}
	return probe.Some(v)
}

// combine adds up the readings of several pages. Averages of several servers have equal weights.
func combine(pages []Speculation) (all Speculation) {
	sum, n := 0.0, 0.0
	for _, p := range pages {
		all.Drafted += p.Drafted
		all.Accepted += p.Accepted
		all.Counted = all.Counted || p.Counted
		if p.Acceptance.OK {
			sum += p.Acceptance.V
			n++
		}
	}
	if n > 0 {
		all.Acceptance = probe.Some(sum / n)
	}
	return all
}
