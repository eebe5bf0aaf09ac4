package baseline

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// TrackerOptions configure a Tracker. Each field may be left out.
type TrackerOptions struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Awaited reports whether a target without jobs may still get some. The tracker keeps
	// the saved state of such a target. nil means that no target is awaited.
	Awaited func(target string) bool
	// HistoryRefused is called for each restored history that cannot be decoded.
	HistoryRefused func(job probe.Key, err error)
}

// Tracker holds the baseline of every job. It is a sink.Sink; metrics and the status page
// read from it, so it stands before them in the fanout.
type Tracker struct {
	options TrackerOptions

	mu   sync.RWMutex
	jobs map[probe.Key]*trackedJob
	// states and histories were saved by an earlier process for jobs that do not exist
	// yet.
	states    map[probe.Key]JobState
	histories map[probe.Key][]byte
}

var _ sink.Sink = (*Tracker)(nil)

// trackedJob is the baseline of one job, with its lock.
type trackedJob struct {
	key probe.Key

	mu         sync.Mutex
	baseline   *Job
	failures   failureRun
	hasHistory bool
}

// NewTracker returns a Tracker without jobs.
func NewTracker(o TrackerOptions) *Tracker {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Awaited == nil {
		o.Awaited = func(string) bool { return false }
	}
	if o.HistoryRefused == nil {
		o.HistoryRefused = func(probe.Key, error) {}
	}
	return &Tracker{options: o, jobs: map[probe.Key]*trackedJob{}}
}

// Add implements sink.Sink. A new job takes over what was saved for it.
func (t *Tracker) Add(info sink.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := info.Key()
	j := t.jobs[key]
	if j == nil {
		j = &trackedJob{key: key, baseline: NewJob(optionsOf(info))}
		t.restoreState(j)
		t.restoreHistory(j)
		t.jobs[key] = j
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.baseline.Configure(optionsOf(info))
}

// Remove implements sink.Sink.
func (t *Tracker) Remove(key probe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, key)
}

// Observe implements sink.Sink.
func (t *Tracker) Observe(e probe.Event) {
	r, ok := e.(probe.Result)
	if !ok {
		return
	}
	if j := t.lock(r.Key()); j != nil {
		defer j.mu.Unlock()
		j.failures.add(r.Outcome)
		j.baseline.Observe(&r, t.options.Now())
	}
}

// lock returns a job with its lock held, or nil if there is no such job.
func (t *Tracker) lock(key probe.Key) *trackedJob {
	t.mu.RLock()
	j := t.jobs[key]
	t.mu.RUnlock()
	if j != nil {
		j.mu.Lock()
	}
	return j
}

// sorted returns all jobs, by target and workload.
func (t *Tracker) sorted() []*trackedJob {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.SortedFunc(maps.Values(t.jobs), func(a, b *trackedJob) int { return a.key.Compare(b.key) })
}

// optionsOf returns the options of a job's detector.
func optionsOf(info sink.Job) Options {
	o := Options{Timeouts: info.Workload.Timeouts, Changes: info.Changes, Policy: info.Policy}
	if info.Benchmark != nil {
		o.Benchmarks = info.Benchmark.Figures
	}
	for k, kind := range probe.TurnKinds() {
		for i, sli := range []slo.SLI{slo.TTFT, slo.TPOT} { // as sink.Signals
			o.Thresholds[k][i], o.Budgets[k][i] = strictest(info.Objectives, sli, info.Key(), kind)
		}
	}
	return o
}

// strictest returns the lowest threshold of the latency objectives that cover the turns,
// and the error budget of that objective; 0 and 0 if there is none.
func strictest(objectives []slo.Objective, sli slo.SLI, key probe.Key, kind probe.TurnKind) (threshold time.Duration, budget float64) {
	covers := func(o slo.Objective) bool { return o.SLI == sli && o.Covers(key.Target, key.Workload, kind) }
	covering := slices.DeleteFunc(slices.Clone(objectives), func(o slo.Objective) bool { return !covers(o) })
	if len(covering) == 0 {
		return 0, 0
	}
	o := slices.MinFunc(covering, func(a, b slo.Objective) int { return cmp.Compare(a.Threshold, b.Threshold) })
	return o.Threshold, o.Budget()
}
