package baseline

import (
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
	"time"
)

// Views are the comparisons of each kind of turn and signal with its baseline, by index of
// probe.TurnKinds and of sink.Signals.
type Views [kinds][signals]View

// Reading is the state of one job's baselines at one time.
type Reading struct {
	Views Views
	// Excess is by how many seconds each part of a turn exceeds its baseline, by index of
	// probe.TurnKinds and of Parts.
	Excess [kinds][partCount]float64
	// CachedBaseline is the usual share of cached prompt tokens, by index of
	// probe.TurnKinds.
	CachedBaseline [kinds]float64
	// Failures is the number of consecutive failed turns.
	Failures int
}

// Read returns the current reading of a job, and false for an unknown job.
func (t *Tracker) Read(key probe.Key) (r Reading, ok bool) {
	j := t.lock(key)
	if j == nil {
		return Reading{}, false
	}
	defer j.mu.Unlock()
	now := t.options.Now()
	r.Views, r.Failures = j.views(now), j.failures.count
	for k := range kinds {
		r.Excess[k], r.CachedBaseline[k] = j.baseline.Parts(k), j.baseline.CachedBaseline(k, now)
	}
	return r, true
}

func (j *trackedJob) views(now time.Time) (v Views) {
	for k := range v {
		for i := range v[k] {
			v[k][i] = j.baseline.View(k, i, now)
		}
	}
	return v
}

// Unusual returns the first signal of a turn that is far above its baseline, and "" if there
// is none. A value that the prober read too late is never unusual.
func (t *Tracker) Unusual(r *probe.Result) sink.Signal {
	j := t.lock(r.Key())
	if j == nil {
		return ""
	}
	defer j.mu.Unlock()
	now := t.options.Now()
	for i, v := range [signals]probe.Opt[time.Duration]{r.TTFT, r.TPOT} { // as sink.Signals
		if v.OK && !j.baseline.TooLate(r, i, now) && j.baseline.Unusual(r.Kind.Index(), i, v.V, now) {
			return sink.Signals()[i]
		}
	}
	return ""
}

// Tolerance returns the longest delay of the prober that a signal of the job can bear, and
// 0 if no signal has a baseline yet.
func (t *Tracker) Tolerance(key probe.Key) (longest time.Duration) {
	j := t.lock(key)
	if j == nil {
		return 0
	}
	defer j.mu.Unlock()
	now := t.options.Now()
	for k := range kinds {
		for i := range signals {
			if d, ok := j.baseline.Tolerance(k, i, now); ok {
				longest = max(longest, d)
			}
		}
	}
	return longest
}

// Sign returns the first signs of a fault, on which the scheduler probes more often. A run of
// failures that ended in a refusal for load is no sign: a burst would add to the load.
func (t *Tracker) Sign(key probe.Key) workload.Sign {
	j := t.lock(key)
	if j == nil {
		return workload.Sign{}
	}
	defer j.mu.Unlock()
	sign := workload.Sign{Score: j.baseline.Score(t.options.Now())}
	if j.failures.lastFailed {
		sign.Failed = j.failures.count
	}
	return sign
}

// failureRun counts consecutive failed turns.
type failureRun struct {
	count      int
	lastFailed bool
}

// add counts an outcome. A refusal for load and a turn that the prober itself ended say
// neither that the deployment is up nor that it is down, so they do not reset the count.
func (f *failureRun) add(o probe.Outcome) {
	switch {
	case o.Own():
	case o.Busy():
		f.lastFailed = false
	case o.Failed() && !o.WrongAnswer():
		f.count++
		f.lastFailed = true
	default:
		*f = failureRun{}
	}
}
