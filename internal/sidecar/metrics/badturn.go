package metrics

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/slo"
)

const (
	// badTurnEvery is the minimum time between two bad turns on display. Each is a series of
	// its own, and a fault must not create thousands.
	badTurnEvery = 5 * time.Minute
	// badTurnKept is how long the last bad turn is shown.
	badTurnKept = time.Hour
)

// badTurn is the latest bad turn of one kind, for a paged engineer to look at.
type badTurn struct {
	trace, reason string
	// end of the turn, in Unix seconds.
	end float64
	// failed is true for a failed turn, false for a slow one.
	failed bool
	// shown is when the turn on display appeared, seen when the last bad turn came.
	shown, seen time.Time
}

// take shows a bad turn if the previous one has been shown for badTurnEvery. A failed turn
// replaces a slow one at once, so that it does not hide the start of an outage.
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

func (b *badTurn) current(now time.Time) bool {
	return b.trace != "" && now.Sub(b.seen) < badTurnKept
}

// whyBad returns the value of the label reason for a bad turn, and "" for a good one. A failure
// comes first, then a missed objective, whose SLI is violated, then an unusual value.
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
