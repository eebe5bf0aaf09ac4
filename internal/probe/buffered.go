package probe

import (
	"slices"
	"time"

	"synthetic/internal/probe/lag"
)

const (
	// bufferedEvents are the fewest from which events that came together say
	// something: an answer of a few tokens may be in one segment.
	bufferedEvents = 16
	// bufferedShare of the events must have come together. A server that sends the
	// tokens of one step as events of their own, or a kernel that joins a few,
	// stays below it: it takes ten events at a time.
	bufferedShare = 0.9
	// together is the longest gap between events that come together, bufferedPart
	// the most of the turn's time that such gaps take in all. Of a deployment that
	// is as quick as that, decoding is more of its turns.
	together     = 200 * time.Microsecond
	bufferedPart = 0.02
)

// unbuffer takes away what a turn does not say whose events came together: the
// gaps between tokens are then those of whatever kept them back. Our own late
// reading looks the same, so it must have been in time.
func unbuffer(r *Result) {
	if max(r.StreamLag, r.ReadLagMax) > lag.Tolerance(0) || !cameTogether(r.Gaps, r.End.Sub(r.Sent)) {
		return
	}
	r.Buffered, r.TPOT, r.Gaps = true, Opt[time.Duration]{}, nil
}

// cameTogether looks at the shortest gaps of a turn that took so long.
func cameTogether(gaps []time.Duration, took time.Duration) bool {
	if len(gaps)+1 < bufferedEvents {
		return false
	}
	gaps = slices.Sorted(slices.Values(gaps))
	short := gaps[:int(bufferedShare*float64(len(gaps))+0.5)]
	sum := time.Duration(0)
	for _, gap := range short {
		sum += gap
	}
	return short[len(short)-1] <= together && float64(sum) <= bufferedPart*float64(took)
}
