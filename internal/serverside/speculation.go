package serverside

import "math"

// Speculation is what the pages of a deployment say of its speculative
// decoding since the reading before.
type Speculation struct {
	// Drafted and Accepted are tokens; Counted says that the deployment counts
	// them.
	Drafted, Accepted float64
	Counted           bool
	// Acceptance is the share of drafted tokens that were accepted, 0 … 1, as a
	// deployment averages it that counts nothing; Gauged says that it does, and
	// that it has drafted something.
	Acceptance float64
	Gauged     bool
}

// speculation compares what one page said twice; before may be the zero
// Sample, for a page that is read for the first time. What was counted before
// the first reading is left out, and so is the growth over a restart of the
// server: of a page with several engines nobody knows which of them began at 0.
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

// averaged is the server's own average, while it is one of anything: a server
// goes on to show the last value when it is idle, and 0 when it does not
// speculate. The accepted length tells that 0 from one of bad drafts: each step
// of a drafter gives a token at least.
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

// known is a figure that is there and a number.
func (s Sample) known(r role) (float64, bool) {
	v, ok := s.values[r]
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// combined is what several pages say together. Averages of several servers
// weigh alike.
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
