package metrics

import (
	"sync"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

// Options are what a Recorder cannot know by itself. Each may be left out; the
// families that depend on it are then absent.
type Options struct {
	// Now is the clock of the 60-second windows; nil means time.Now.
	Now func() time.Time
	// Build describes this binary; the zero value exports no build info.
	Build Build
	// TimestampSource says where event times come from: "kernel" or "read".
	// It is asked at each scrape; "" means not known yet.
	TimestampSource func() string
	// Heartbeat says when the loop of a job last gave a sign of life; the zero
	// time means never. It is asked at each scrape.
	Heartbeat func(job probe.Key) time.Time
}

// Build are the labels of synthetic_build_info.
type Build struct {
	Version, Revision, Branch, GoVersion, GOOS, GOARCH, Tags string
}

// Recorder turns probe results into series. It takes results from any number
// of goroutines, as a Sink of the scheduler, and is a prometheus.Collector;
// Gatherer is the cheaper way to the same families.
//
// Jobs are announced by Apply. What is reported of an unknown job is dropped:
// the last conversations of a removed job must not bring its series back.
type Recorder struct {
	options Options
	layouts *layouts

	mu    sync.RWMutex
	jobs  map[probe.Key]*job
	rates map[probe.Key]float64
	// benchmarks are those of the jobs that have one.
	benchmarks map[probe.Key]benchmarked
	targets    []Target
	slos       []slo.Objective
	reload     reload
	// restored holds what an earlier process knew of jobs that are not there
	// yet.
	restored map[probe.Key]regression.JobState
	// servers are the targets whose own metrics are read, by name.
	servers map[string]*server
	// generation counts the changes of what series there are; a frame of an
	// older generation is stale.
	generation uint64
	// spare is the frame that the last scrape gave back.
	spare *frame
}

// NewRecorder returns a Recorder without any job.
func NewRecorder(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Recorder{options: o, layouts: newLayouts(), jobs: map[probe.Key]*job{}}
}

// Observe takes an event into every series it belongs to, at once. A reason of
// a skip outside SkipReasons is dropped: labels stay bounded.
func (r *Recorder) Observe(e probe.Event) {
	if m, ok := e.(probe.ModelFound); ok {
		r.SetModel(m.Target, m.Model)
		return
	}
	r.mu.RLock()
	j := r.jobs[e.Key()]
	r.mu.RUnlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	j.observe(e, r.options.Now())
	over := j.retired && j.idle()
	j.mu.Unlock()
	if over {
		r.dropRetired(j)
	}
}
