package watch

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

type TrackerOptions struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Awaited reports whether a target without jobs may still get some. The tracker keeps
	// the saved state of such a target. nil means that no target is awaited.
	Awaited func(target string) bool
	// HistoryRefused is called for each restored history that cannot be decoded.
	HistoryRefused func(job probe.Key, err error)
}

// Tracker holds every job. It is a fleet.Sink; metrics and the status page
// read from it, so it stands before them in the fanout.
type Tracker struct {
	options TrackerOptions

	mu   sync.RWMutex
	jobs map[probe.Key]*job
	// states and histories were saved by an earlier process for jobs that do not exist
	// yet.
	states    map[probe.Key]JobState
	histories map[probe.Key][]byte
}

var _ fleet.Sink = (*Tracker)(nil)

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
	return &Tracker{options: o, jobs: map[probe.Key]*job{}}
}

// Add implements fleet.Sink. A new job takes its saved state and history.
func (t *Tracker) Add(info fleet.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := info.Key()
	j := t.jobs[key]
	if j == nil {
		j = newJob(info)
		t.recall(j)
		t.jobs[key] = j
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.configure(info)
}

// Remove implements fleet.Sink.
func (t *Tracker) Remove(key probe.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, key)
}

// Observe implements fleet.Sink.
func (t *Tracker) Observe(e probe.Event) {
	r, ok := e.(probe.Result)
	if !ok {
		return
	}
	j := t.lock(e.Key())
	if j == nil {
		return
	}
	defer j.mu.Unlock()
	j.observe(&r, t.options.Now())
}

// lock returns a job with its lock held, nil if it is unknown.
func (t *Tracker) lock(key probe.Key) *job {
	t.mu.RLock()
	j := t.jobs[key]
	t.mu.RUnlock()
	if j != nil {
		j.mu.Lock()
	}
	return j
}

func (t *Tracker) sorted() []*job {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.SortedFunc(maps.Values(t.jobs), func(a, b *job) int { return a.key.Compare(b.key) })
}

// States returns the state of all jobs for the state file. It includes saved states of
// awaited targets.
func (t *Tracker) States() (f File) {
	now := t.options.Now()
	for _, j := range t.sorted() {
		j.mu.Lock()
		f.Jobs = append(f.Jobs, j.state(now))
		j.mu.Unlock()
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for key, st := range t.states {
		if t.options.Awaited(key.Target) {
			f.Jobs = append(f.Jobs, st)
		}
	}
	return f
}

// Histories returns the encoded history of each job, one at a time because each is large.
func (t *Tracker) Histories() iter.Seq2[probe.Key, []byte] {
	return func(yield func(probe.Key, []byte) bool) {
		for _, j := range t.sorted() {
			j.mu.Lock()
			data, err := j.archive()
			j.mu.Unlock()
			if err == nil && !yield(j.key, data) { // encoding to memory does not fail
				return
			}
		}
		t.mu.RLock()
		waiting := maps.Clone(t.histories) // of jobs that may still be added
		t.mu.RUnlock()
		for key, data := range waiting {
			if t.options.Awaited(key.Target) && !yield(key, data) {
				return
			}
		}
	}
}

// Restore takes over the states and histories that an earlier process saved. A job that does
// not exist yet takes its part when it is added.
func (t *Tracker) Restore(f File, histories map[probe.Key][]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.histories = histories
	t.states = make(map[probe.Key]JobState, len(f.Jobs))
	for _, st := range f.Jobs {
		t.states[probe.Key{Target: st.Target, Workload: st.Workload}] = st
	}
	for _, j := range t.jobs {
		j.mu.Lock()
		t.recall(j)
		j.mu.Unlock()
	}
}

// Saved reports whether a job that was not added yet has a saved state.
func (t *Tracker) Saved(key probe.Key) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, ok := t.states[key]
	return ok
}

// recall gives a job its saved state and history. The tracker must be locked, and the job too unless it is new.
func (t *Tracker) recall(j *job) {
	if st, ok := t.states[j.key]; ok {
		j.restore(st, t.options.Now())
		delete(t.states, j.key)
	}
	if data, ok := t.histories[j.key]; ok {
		delete(t.histories, j.key)
		if err := j.restoreArchive(data); err != nil {
			t.options.HistoryRefused(j.key, err)
		}
	}
}
