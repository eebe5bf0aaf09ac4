package probe

import "time"

// deadlines bound a turn. Zero values mean no bound.
type deadlines struct {
	firstToken, total time.Time
	// leave is when the simulated user closes the connection.
	leave time.Time
	stall time.Duration
}

// next returns the next deadline, or the zero time, and the outcome of missing it. lastToken is
// zero before the first token.
func (d deadlines) next(lastToken time.Time) (time.Time, Outcome) {
	at, outcome, atTotal := d.firstToken, TimeoutFirstToken, TimeoutFirstToken
	if !lastToken.IsZero() {
		at, outcome, atTotal = time.Time{}, Stall, TimeoutTotal
		if d.stall > 0 {
			at = lastToken.Add(d.stall)
		}
	}
	if isEarlier(d.total, at) {
		at, outcome = d.total, atTotal
	}
	if isEarlier(d.leave, at) {
		at, outcome = d.leave, UserCanceled
	}
	return at, outcome
}

// isEarlier reports whether deadline a exists and is before b.
func isEarlier(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }

func (d deadlines) explain(o Outcome) string {
	switch o {
	case TimeoutFirstToken:
		return "no token arrived within the first-token timeout"
	case Stall:
		return "no token arrived within " + d.stall.String() + " after the last one"
	case UserCanceled:
		return "the simulated user did not wait and closed the connection"
	case TimeoutTotal:
		return "the answer was not complete within the total timeout"
	}
	return string(o)
}
