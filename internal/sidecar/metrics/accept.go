package metrics

import (
	"slices"
	"time"

	"synthetic/internal/probe"
)

// acceptLast is what is taken for the usual of a job that has not regressed.
const acceptLast = 30 * time.Minute

// Accepted is a job whose level was taken for the usual.
type Accepted struct {
	Key   probe.Key
	Since time.Time
	// Ratios are those of the level to what was usual before, by kind of turn and
	// signal; 0 where that is not known.
	Ratios [kinds][signals]float64
}

// Accept takes what the jobs of a target measured since a time for their usual
// level; the zero time means since the regression of each began, or the last half
// hour. A workload of "" means all of them. It returns what was accepted, nothing
// for a target that has no such job.
func (r *Recorder) Accept(target, workload string, since time.Time) []Accepted {
	now := r.options.Now()
	var out []Accepted
	for _, j := range r.all() {
		if j.key.Target == target && (workload == "" || j.key.Workload == workload) {
			out = append(out, j.accept(since, now))
		}
	}
	return out
}

func (j *job) accept(since, now time.Time) Accepted {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := Accepted{Key: j.key, Since: now.Add(-acceptLast)}
	began := time.Time{}
	for k, signals := range j.views(now) {
		for i, v := range signals {
			if v.Ratio > 0 { // not NaN
				a.Ratios[k][i] = v.Ratio
			}
			if !v.Since.IsZero() && (began.IsZero() || v.Since.Before(began)) {
				began = v.Since
			}
		}
	}
	switch {
	case !since.IsZero():
		a.Since = since
	case !began.IsZero():
		a.Since = began
	}
	j.regression.Accept(a.Since, now)
	return a
}

// Names are the targets that have jobs, sorted.
func (r *Recorder) Names() []string {
	var out []string
	for _, j := range r.all() {
		out = append(out, j.key.Target)
	}
	return slices.Compact(out)
}
