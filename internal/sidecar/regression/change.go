package regression

import "time"

const week = 7 * 24 * time.Hour

// Change is a declared change window: what is measured in [From, To) does not
// enter the baseline.
type Change struct {
	From, To time.Time
	// Weekly repeats the window every seven days from From on. It must be shorter
	// than that.
	Weekly bool
	// Relearn says that the level is meant to be another one afterwards: what was
	// learned before To is forgotten. It has no meaning for a weekly window.
	Relearn bool
}

// covers reports whether a time lies within the window.
func (c Change) covers(at time.Time) bool {
	if at.Before(c.From) {
		return false
	}
	if c.Weekly {
		at = at.Add(-at.Sub(c.From).Truncate(week))
	}
	return at.Before(c.To)
}

// change reports whether a change window is open, and starts the baselines
// anew when one that asks for it has ended, be it while no process ran: what a
// state file brought back is older than that.
func (j *Job) change(at time.Time) bool {
	open := false
	for _, c := range j.changes {
		if c.Relearn && !at.Before(c.To) && c.To.After(j.relearned) {
			j.relearned = c.To
			j.forget()
		}
		open = open || c.covers(at)
	}
	return open
}

func (j *Job) forget() {
	for k := range j.series {
		for i := range j.series[k] {
			s := &j.series[k][i]
			s.forgetAll()
		}
		j.parts[k].usual = means{}
		j.cached[k] = cached{}
	}
}
