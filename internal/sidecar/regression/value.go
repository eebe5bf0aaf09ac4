package regression

import (
	"cmp"
	"time"

	"synthetic/internal/probe"
)

// values are what a turn says of each signal; undefined where it says nothing.
type values [signals]probe.Opt[time.Duration]

// valuesOf reads a turn. Failures are measurements: a turn without a first
// token enters as its deadline, or as what it waited if that is longer, and so
// does the pace of one that broke off in mid-answer. A refusal for load
// (HTTP 429) says nothing of the latency and has an alert of its own; a turn
// that our own shutdown canceled says nothing at all.
func (d Deadlines) valuesOf(r *probe.Result) values {
	if r.Outcome == probe.Canceled || r.Outcome.Busy() {
		return values{}
	}
	ttft, tpot := r.TTFT, r.TPOT
	if r.Outcome.Failed() && r.Outcome != probe.ContentMismatch {
		if ttft.OK {
			tpot = deadline(d.Stall, 0)
		} else {
			ttft = deadline(cmp.Or(d.FirstToken, d.Total), r.Duration())
		}
	}
	return values{ttft, tpot}
}

// deadline is the longer of a bound and what was waited; undefined if there is
// neither.
func deadline(bound, waited time.Duration) probe.Opt[time.Duration] {
	d := max(bound, waited)
	return probe.Opt[time.Duration]{V: d, OK: d > 0}
}
