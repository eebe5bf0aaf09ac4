package baseline

import "time"

// change reports whether a change window is open. When a window with Relearn has ended, it
// discards the baselines, also if no process ran at that time.
func (j *Job) change(at time.Time) bool {
	open := false
	for _, c := range j.changes {
		if c.Relearn && !at.Before(c.To) && c.To.After(j.relearned) {
			j.relearned = c.To
			j.forget()
		}
		open = open || c.Covers(at)
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
