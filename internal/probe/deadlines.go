package probe

import (
	"time"

	"synthetic/internal/probe/workload"
)

// deadlines are the three bounds of a turn, and when its user leaves. A bound of
// zero does not exist.
type deadlines struct {
	firstToken, total, leave time.Time
	stall                    time.Duration
}

func newDeadlines(sent time.Time, t workload.Timeouts) deadlines {
	d := deadlines{stall: t.Stall}
	if t.FirstToken > 0 {
		d.firstToken = sent.Add(t.FirstToken)
	}
	if t.Total > 0 {
		d.total = sent.Add(t.Total)
	}
	return d
}

// next returns the deadline that applies now and the outcome of passing it.
// lastToken is zero before the first token. Without any bound the time is
// zero.
func (d deadlines) next(lastToken time.Time) (time.Time, Outcome) {
	at, outcome := d.bound(lastToken)
	if !d.leave.IsZero() && (at.IsZero() || d.leave.Before(at)) {
		return d.leave, UserCanceled
	}
	return at, outcome
}

func (d deadlines) bound(lastToken time.Time) (time.Time, Outcome) {
	at, outcome := d.firstToken, TimeoutFirstToken
	if !lastToken.IsZero() {
		at, outcome = time.Time{}, Stall
		if d.stall > 0 {
			at = lastToken.Add(d.stall)
		}
	}
	if !d.total.IsZero() && (at.IsZero() || d.total.Before(at)) {
		if lastToken.IsZero() {
			return d.total, TimeoutFirstToken
		}
		return d.total, TimeoutTotal
	}
	return at, outcome
}

// explain says in words which bound was passed.
func (d deadlines) explain(o Outcome) string {
	switch o {
	case TimeoutFirstToken:
		return "no token arrived within the first-token timeout"
	case Stall:
		return "no further token arrived within " + d.stall.String() + " of the last one"
	case UserCanceled:
		return "the user did not wait, and the connection was closed"
	case TimeoutTotal:
		return "the answer was not complete within the total timeout"
	}
	return string(o)
}
