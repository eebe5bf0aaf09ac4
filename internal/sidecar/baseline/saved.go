package baseline

import (
	"iter"
	"maps"
	"synthetic/internal/probe"
)

// States returns the state of all jobs for the state file. It includes saved states of
// awaited targets.
func (t *Tracker) States() (f File) {
	now := t.options.Now()
	for _, j := range t.sorted() {
		j.mu.Lock()
		f.Jobs = append(f.Jobs, j.baseline.State(j.key.Target, j.key.Workload, now))
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
			data := j.baseline.History()
			j.mu.Unlock()
			if !yield(j.key, data) {
				return
			}
		}
		for key, data := range t.awaitedHistories() {
			if !yield(key, data) {
				return
			}
		}
	}
}

// awaitedHistories returns the saved histories of jobs that may still be added.
func (t *Tracker) awaitedHistories() map[probe.Key][]byte {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := maps.Clone(t.histories)
	maps.DeleteFunc(out, func(k probe.Key, _ []byte) bool { return !t.options.Awaited(k.Target) })
	return out
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
		t.restoreState(j)
		t.restoreHistory(j)
		j.mu.Unlock()
	}
}

// restoreState gives a job its saved state. The tracker must be locked, and the job too
// unless it is new.
func (t *Tracker) restoreState(j *trackedJob) {
	if st, ok := t.states[j.key]; ok {
		j.baseline.Restore(st, t.options.Now())
		delete(t.states, j.key)
	}
}

// restoreHistory gives a job its saved history, under the same locks as restoreState.
func (t *Tracker) restoreHistory(j *trackedJob) {
	data, ok := t.histories[j.key]
	if !ok {
		return
	}
	delete(t.histories, j.key)
	if err := j.baseline.RestoreHistory(data); err != nil {
		t.options.HistoryRefused(j.key, err)
		return
	}
	j.hasHistory = true
}

// WithoutHistory returns the jobs that have neither restored a history nor been backfilled.
func (t *Tracker) WithoutHistory() (out []probe.Key) {
	for _, j := range t.sorted() {
		j.mu.Lock()
		if !j.hasHistory {
			out = append(out, j.key)
		}
		j.mu.Unlock()
	}
	return out
}

// Backfill gives a job minutes that an earlier process measured, of one kind of turn and one
// signal. It does nothing for an unknown job.
func (t *Tracker) Backfill(key probe.Key, kind, signal int, minutes []Minute) {
	if j := t.lock(key); j != nil {
		defer j.mu.Unlock()
		j.hasHistory = true
		j.baseline.Backfill(kind, signal, minutes)
	}
}
