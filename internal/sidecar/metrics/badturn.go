package metrics

import (
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/slo"
)

const (
	// badTurnEvery is the minimum time between two bad turns of one severity on display. Each is a
	// series of its own, and a fault must not create thousands.
	badTurnEvery = 5 * time.Minute
	// badTurnOther is the minimum time until a turn that failed for another reason replaces the one on
	// display, once in badTurnEvery: a process that is killed first breaks off answers, and then refuses
	// connections.
	badTurnOther = 30 * time.Second
	// badTurnKept is how long the last bad turn is shown.
	badTurnKept = time.Hour
	// reasonForeign is the reason of a turn with text of another conversation.
	reasonForeign = "foreign_answer"
	// maxErrorLabel bounds the label error in bytes.
	maxErrorLabel = 160
)

// badTurn is the latest bad turn of one kind, for a paged engineer to look at.
type badTurn struct {
	trace, reason string
	// err describes the failure; "" for a slow turn.
	err string
	// end of the turn, in Unix seconds.
	end      float64
	severity severity
	// shown is when the turn on display appeared, seen when the last bad turn came.
	shown, seen time.Time
	// replaced is true if another reason has replaced the previous turn of this severity.
	replaced bool
}

// severity orders bad turns: a worse one replaces the one on display at once.
type severity int

const (
	slow severity = iota
	// refused turns failed because of load, which is no outage.
	refused
	failed
	foreign
)

func severityOf(r *probe.Result) severity {
	switch {
	case r.Recall.Result == recall.Foreign:
		return foreign
	case r.Outcome.Busy():
		return refused
	case r.Outcome.Failed():
		return failed
	}
	return slow
}

// take shows a bad turn if the previous one has been shown for badTurnEvery, is less severe, or failed for
// another reason.
func (b *badTurn) take(r *probe.Result, reason string, now time.Time) {
	if r.TraceID == "" {
		return
	}
	b.seen = now
	s := severityOf(r)
	since := now.Sub(b.shown)
	other := b.trace != "" && s == failed && b.severity == failed && reason != b.reason && since >= badTurnOther && !b.replaced
	if b.trace != "" && since < badTurnEvery && s <= b.severity && !other {
		return
	}
	b.replaced = other
	b.trace, b.reason, b.severity, b.err = r.TraceID, reason, s, bound.Shorten(r.Err, maxErrorLabel)
	b.end, b.shown = unixSeconds(r.End), now
}

func (b *badTurn) current(now time.Time) bool {
	return b.trace != "" && now.Sub(b.seen) < badTurnKept
}

// whyBad returns the value of the label reason for a bad turn, and "" for a good one. An answer of
// another conversation comes first, then a failure, then a missed objective, whose SLI is violated, then
// an unusual value.
func whyBad(r *probe.Result, violated slo.SLI, baselines *baseline.Tracker) string {
	switch {
	case r.Recall.Result == recall.Foreign:
		return reasonForeign
	case r.Outcome.Failed():
		return string(r.Outcome)
	case r.Outcome.Own():
		return ""
	case violated != "":
		return string(violated)
	}
	return string(baselines.Unusual(r))
}
