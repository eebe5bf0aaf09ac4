package serverside

import "math"

// Speculation describes speculative decoding since the previous reading.
type Speculation struct {
	// Drafted and Accepted are numbers of tokens; Counted is true if the deployment counts
	// them.
	Drafted, Accepted float64
	Counted           bool
	// Acceptance is the share of accepted draft tokens, from 0 to 1, averaged by a deployment
	// without counters. Gauged is true if it reports that and has drafted something.
	Acceptance float64
	Gauged     bool
}

// speculation compares two readings of one page; before is the zero Sample at the first
// reading, whose counts are not used. An increase over a restart is not used either: on a page
// with several engines it is unknown which of them restarted.
func speculation(before, after Sample) (s Speculation) {
	d, ok := after.known(drafted)
	a, both := after.known(accepted)
	if s.Counted = ok && both; !s.Counted {
		s.Acceptance, s.Gauged = averaged(before, after)
		return s
	}
	d0, seen := before.known(drafted)
	a0, bothSeen := before.known(accepted)
	if seen && bothSeen && d >= d0 && a >= a0 {
		s.Drafted, s.Accepted = d-d0, a-a0
	}
	return s
}

// averaged returns the server's own average, if it is meaningful. An idle server keeps showing
// its last value, and one without speculation shows 0. The accepted length distinguishes that 0
// from bad drafts, since each step yields at least one token.
func averaged(before, after Sample) (float64, bool) {
	v, ok := after.known(acceptance)
	if !ok || v < 0 || v > 1 {
		return 0, false
	}
	if n, known := after.known(outputTokens); known {
		n0, seen := before.known(outputTokens)
		if !seen || n == n0 {
			return 0, false
		}
	}
	length, known := after.known(acceptedLength)
	return v, v > 0 || known && length > 0
}

// known returns a figure that exists and is a number.
func (s Sample) known(r role) (float64, bool) {
	v, ok := s.values[r]
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// combined combines several pages. Averages of several servers have equal weights.
func combined(pages []Speculation) Speculation {
	var all Speculation
	gauged := 0.0
	for _, p := range pages {
		all.Drafted += p.Drafted
		all.Accepted += p.Accepted
		all.Counted = all.Counted || p.Counted
		if p.Gauged {
			all.Acceptance += p.Acceptance
			gauged++
		}
	}
	if gauged > 0 {
		all.Acceptance, all.Gauged = all.Acceptance/gauged, true
	}
	return all
}
