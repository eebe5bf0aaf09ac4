package metrics

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/slo"
)

const (
	// badTurnEvery bounds how often the bad turn that is shown is replaced:
	// each one is a series of its own, and a fault must not make thousands.
	badTurnEvery = 5 * time.Minute
	// badTurnKept is how long after the last bad turn it is shown.
	badTurnKept = time.Hour
)

// badTurn is the turn of one kind that somebody who was paged should look at.
type badTurn struct {
	trace, reason string
	// end is when it ended, in Unix seconds.
	end float64
	// failed says that it did, and was not just slow.
	failed bool
	// shown is since when it is shown, seen when the last bad turn came.
	shown, seen time.Time
}

// take shows a bad turn if the one before has been shown for long enough. A
// turn that failed replaces one that was only slow at once: it must not hide
// the beginning of an outage.
func (b *badTurn) take(r *probe.Result, reason string, now time.Time) {
	if r.TraceID == "" {
		return
	}
	b.seen = now
	failed := r.Outcome.Failed()
	if b.trace != "" && now.Sub(b.shown) < badTurnEvery && (b.failed || !failed) {
		return
	}
	b.trace, b.reason, b.failed = r.TraceID, reason, failed
	b.end, b.shown = unixSeconds(r.End), now
}

// current says whether there is one to show.
func (b *badTurn) current(now time.Time) bool {
	return b.trace != "" && now.Sub(b.seen) < badTurnKept
}

// whyBad says why a turn is bad, in a value of the label reason; "" for a turn
// that is not. A failure says more than a missed objective, and that more than
// a value far above the usual. violated is the SLI of a missed objective, ""
// for none.
func whyBad(r *probe.Result, violated slo.SLI, baselines *baseline.Tracker) string {
	switch {
	case r.Outcome.Failed():
		return string(r.Outcome)
	case r.Outcome.Own():
		return ""
	case violated != "":
		return string(violated)
	}
	return string(baselines.Unusual(r))
}
