package metrics

import (
	"maps"
	"slices"
	"sync"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/discovery"

	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/siblings"
	"synthetic/internal/sidecar/sink"
)

// Options are what a Recorder cannot know by itself. Each may be left out; the
// families that depend on it are then absent.
type Options struct {
	// Now is the clock of the 60-second windows; nil means time.Now.
	Now func() time.Time
	// Build describes this binary; the zero value exports no build info.
	Build Build
	// Host is the name of this host, which tells its loopback addresses from those
	// of others; "" means that they are the same.
	Host string
	// TimestampSource says where event times come from: "kernel" or "read".
	// It is asked at each scrape; "" means not known yet.
	TimestampSource func() string
	// Heartbeat says when the loop of a job last gave a sign of life; the zero
	// time means never. It is asked at each scrape.
	Heartbeat func(job probe.Key) time.Time
	// Lag is how late this process was in the last minute; nil means never.
	Lag func() time.Duration
	// Throttled says for how long the reads of a target were delayed. It is asked
	// at each scrape.
	Throttled func(target string) time.Duration
	// TurnLog says how many turns the log of turns lacks; nil where none is written.
	TurnLog func() uint64
	// Models says of the targets of which several models are probed how they
	// stand; nil where there are none.
	Models func() map[string]discovery.Listing
	// Discovery says how the groups of discovered targets stand; nil where there are
	// none.
	Discovery func() []discovery.Standing
	// Leased says of a target that its series are those of Of alone; nil of none.
	Leased func() func(target string) bool
	// Baselines are read at each scrape and for each turn. They must observe an event
	// before the Recorder does. nil means none.
	Baselines *baseline.Tracker
	// Spans says how spans fared; false, or nil, where none are exported.
	Spans func() (Spans, bool)
	// Siblings says how replicas compare with each other; nil for none.
	Siblings func() []siblings.View
	// Bounds are those of this process. They are looked at in each scrape.
	Bounds []bound.Bound
}

// Spans are counts of spans: sent, without room in the queue, and not taken by the
// receiver.
type Spans struct{ Exported, Dropped, Refused uint64 }

// Build are the labels of synthetic_build_info.
type Build struct {
	Version, Revision, Branch, GoVersion, GOOS, GOARCH, Tags string
}

// Recorder turns probe results into series. It is a sink, so it takes results
// from any number of goroutines, and a prometheus.Gatherer.
//
// Jobs are announced by Add. What is reported of an unknown job is dropped: the
// last conversations of a removed job must not bring its series back.
type Recorder struct {
	options Options

	mu      sync.RWMutex
	jobs    map[probe.Key]*job
	targets map[string]*targetSeries
	reload  reload
	scraped Mode
	added   uint64 // configurations of jobs so far
}

var _ sink.Sink = (*Recorder)(nil)

// reload is what is known of the last load of the configuration.
type reload struct {
	successful, lastSuccess float64
}

// NewRecorder returns a Recorder without any job.
func NewRecorder(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lag == nil {
		o.Lag = func() time.Duration { return 0 }
	}
	if o.Baselines == nil {
		o.Baselines = baseline.NewTracker(baseline.TrackerOptions{})
	}
	if o.Leased == nil {
		o.Leased = func() func(string) bool { return func(string) bool { return false } }
	}
	return &Recorder{options: o, jobs: map[probe.Key]*job{}, targets: map[string]*targetSeries{}}
}

// Add makes the series of a job. A new one starts with all of them at 0, so that
// increase() sees its first failure; a known one keeps its series whatever else
// changed. An SLO is known by its name: a changed threshold continues the
// counter, and judges by the new one from here on.
func (r *Recorder) Add(info sink.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := info.Key()
	j := r.jobs[key]
	if j == nil {
		j = newJob(key)
		r.jobs[key] = j
	}
	r.added++
	j.configure(info, r.added)
	if r.targets[key.Target] == nil {
		r.targets[key.Target] = &targetSeries{}
	}
	r.targets[key.Target].configure(info)
}

// Remove drops the series of a job, and those of its target with its last job.
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

// Observe takes an event into every series it belongs to, at once. A reason of
// a skip outside SkipReasons is not exported: labels stay bounded.
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
	j.observe(e, r.options.Now(), r.options.Baselines)
}

// SetReload says how the last load of the configuration went, and when.
func (r *Recorder) SetReload(ok bool, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reload.successful = 0
	if ok {
		r.reload = reload{successful: 1, lastSuccess: unixSeconds(at)}
	}
}

// SetMode says what a scrape of Gather and Handler gets.
func (r *Recorder) SetMode(m Mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scraped = m
}

func (r *Recorder) mode() Mode {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.scraped
}

// sortedJobs are the jobs by target, then workload; the lock must be held.
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
