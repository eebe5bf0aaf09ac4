package baseline

import (
	"time"

	"synthetic/internal/probe"
)

// acceptLast is the period whose level Accept uses for a job without a regression.
const acceptLast = 30 * time.Minute

// Accepted describes a job whose current level became its baseline.
type Accepted struct {
	Key   probe.Key
	Since time.Time
	// Ratios are those of the level to the previous baseline, by kind of turn and signal;
	// 0 if unknown.
	Ratios [kinds][signals]float64
}

// Accept makes the level since a time the baseline of a target's jobs. An empty workload
// means all of them. A zero time means the start of each job's regression, or the last 30
// minutes for a job without one. It returns the accepted jobs.
func (t *Tracker) Accept(target, workload string, since time.Time) (out []Accepted) {
	now := t.options.Now()
	for _, j := range t.sorted() {
		if j.key.Target == target && (workload == "" || j.key.Workload == workload) {
			out = append(out, j.accept(since, now))
		}
	}
	return out
}

func (j *trackedJob) accept(since, now time.Time) Accepted {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := Accepted{Key: j.key, Since: since}
	first := time.Time{}
	for k, signals := range j.views(now) {
		for i, v := range signals {
			if v.Ratio > 0 { // not NaN
				a.Ratios[k][i] = v.Ratio
			}
			if !v.Since.IsZero() && (first.IsZero() || v.Since.Before(first)) {
				first = v.Since
			}
		}
	}
	if a.Since.IsZero() {
		a.Since = first
	}
	if a.Since.IsZero() {
		a.Since = now.Add(-acceptLast)
	}
	j.baseline.Accept(a.Since, now)
	return a
}
