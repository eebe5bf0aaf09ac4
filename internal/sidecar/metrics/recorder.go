package metrics

import (
	"maps"
	"slices"
	"sync"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/discovery"

	"synthetic/internal/fleet"
	"synthetic/internal/sidecar/watch"
)

// Options configure a Recorder. Each field may be left out; its families are then absent.
type Options struct {
	// Now is the clock of the 60-second windows; nil means time.Now.
	Now func() time.Time
	// Build describes this binary; the zero value exports no build info.
	Build Build
	// Host is the name of this host. It replaces loopback addresses in URLs; "" keeps them.
	Host string
	// TimestampSource returns the source of event times: "kernel", "read" or, if not known yet,
	// "". It is called at each scrape.
	TimestampSource func() string
	// Heartbeat returns the last sign of life of a job's loop, the zero time if there was none.
	// It is called at each scrape.
	Heartbeat func(job probe.Key) time.Time
	// Lag returns how late this process was in the last minute; nil means 0.
	Lag func() time.Duration
	// TurnLog returns the number of turns missing from the turn log; nil without a log.
	TurnLog func() uint64
	// Discovery returns the state of each discovery group; nil without discovery.
	Discovery func() []discovery.Standing
	// Leased returns a function that reports whether only ForTarget shows a target; nil means no
	// target.
	Leased func() func(target string) bool
	// Baselines are read at each scrape; nil means none.
	Baselines *watch.Tracker
	// Backends records how many servers behind a gateway the jobs name; nil records nothing.
	Backends *bound.Peak
	// Bounds are the limits of this process. They are read at each scrape.
	Bounds []bound.Bound
}

// Build holds the labels of synthetic_build_info.
type Build struct {
	Version, Revision, Branch, GoVersion, GOOS, GOARCH, Tags string
}

// Recorder turns events into series. It is a fleet.Sink, safe for concurrent use, and a
// prometheus.Gatherer.
//
// Add announces jobs. Events of an unknown job are dropped, because the last conversations of a
// removed job must not create its series again.
type Recorder struct {
	options Options

	mu      sync.RWMutex
	jobs    map[probe.Key]*job
	targets map[string]*targetSeries
	reload  reload
	added   uint64 // number of configurations so far
}

var _ fleet.Sink = (*Recorder)(nil)

// reload describes the last load of the configuration.
type reload struct {
	successful, lastSuccess float64
}

// NewRecorder returns a Recorder without jobs.
func NewRecorder(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lag == nil {
		o.Lag = func() time.Duration { return 0 }
	}
	if o.Baselines == nil {
		o.Baselines = watch.NewTracker(watch.TrackerOptions{})
	}
	if o.Leased == nil {
		o.Leased = func() func(string) bool { return func(string) bool { return false } }
	}
	return &Recorder{options: o, jobs: map[probe.Key]*job{}, targets: map[string]*targetSeries{}}
}

// Add creates the series of a job. All of them start at 0, so that increase() sees the first
// failure. A known job keeps its series. An SLO is identified by its name: after a change of its
// threshold the counter continues.
func (r *Recorder) Add(info fleet.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := info.Key()
	j := r.jobs[key]
	if j == nil {
		j = newJob(key, r.options.Backends)
		r.jobs[key] = j
	}
	r.added++
	j.configure(info, r.added)
	if r.targets[key.Target] == nil {
		r.targets[key.Target] = &targetSeries{requests: map[probe.Purpose]float64{}}
	}
	r.targets[key.Target].configure(info)
}

// Remove drops the series of a job, and with its last job those of the target.
func (r *Recorder) Remove(key probe.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, key)
	for other := range r.jobs {
		if other.Target == key.Target {
			return
		}
	}
	delete(r.targets, key.Target)
}

// Observe adds an event to all of its series at once. Skip reasons outside probe.SkipReasons are not
// exported, so that labels stay bounded.
func (r *Recorder) Observe(e probe.Event) {
	if m, ok := e.(probe.ModelFound); ok {
		r.setModel(m.Target, m.Model)
		return
	}
	r.mu.RLock()
	j := r.jobs[e.Key()]
	r.mu.RUnlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.observe(e, r.options.Now())
}

// SetReload records the result and the time of the last load of the configuration.
func (r *Recorder) SetReload(ok bool, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reload.successful = 0
	if ok {
		r.reload = reload{successful: 1, lastSuccess: unixSeconds(at)}
	}
}

// sortedJobs returns the jobs by target and workload. The caller holds the lock.
func (r *Recorder) sortedJobs() []*job {
	return slices.SortedFunc(maps.Values(r.jobs), func(a, b *job) int { return a.key.Compare(b.key) })
}

// Names returns the targets that have jobs, sorted.
func (r *Recorder) Names() (names []string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, j := range r.sortedJobs() {
		names = append(names, j.key.Target)
	}
	return slices.Compact(names)
}
