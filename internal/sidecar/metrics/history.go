package metrics

import (
	"iter"
	"maps"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
)

// Histories are those of all jobs, as regression.Job.History gives them: one at a
// time, for each is large.
func (r *Recorder) Histories() iter.Seq2[probe.Key, []byte] {
	return func(yield func(probe.Key, []byte) bool) {
		for _, j := range r.all() {
			j.mu.Lock()
			data := j.regression.History()
			j.mu.Unlock()
			if !yield(j.key, data) {
				return
			}
		}
		for key, data := range r.awaited() {
			if !yield(key, data) {
				return
			}
		}
	}
}

// awaited are the histories of jobs that are not there and may still come.
func (r *Recorder) awaited() map[probe.Key][]byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := maps.Clone(r.histories)
	maps.DeleteFunc(out, func(k probe.Key, _ []byte) bool { return !r.options.Awaited(k.Target) })
	return out
}

// RestoreHistories takes over what Histories gave in an earlier process. A job
// that is not there yet takes its part when it is added. It comes after
// RestoreBaselines.
func (r *Recorder) RestoreHistories(histories map[probe.Key][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.histories = histories
	for _, j := range r.jobs {
		j.mu.Lock()
		r.recall(j)
		j.mu.Unlock()
	}
}

// recall gives a job its history, under the same locks as restore.
func (r *Recorder) recall(j *job) {
	data, ok := r.histories[j.key]
	if !ok {
		return
	}
	delete(r.histories, j.key)
	if err := j.regression.RestoreHistory(data); err != nil {
		r.options.HistoryRefused(j.key, err)
		return
	}
	j.remembers = true
}

// Forgetful lists the jobs that began without a history.
func (r *Recorder) Forgetful() []probe.Key {
	var out []probe.Key
	for _, j := range r.all() {
		j.mu.Lock()
		if !j.remembers {
			out = append(out, j.key)
		}
		j.mu.Unlock()
	}
	return out
}

// Backfill hands minutes that an earlier process measured to a job that began
// without a history, by kind of turn and signal. A job that is no more drops them.
func (r *Recorder) Backfill(key probe.Key, kind, signal int, minutes []baseline.Minute) {
	if j := r.locked(key); j != nil {
		defer j.mu.Unlock()
		j.remembers = true
		j.regression.Backfill(kind, signal, minutes)
	}
}

// all are the jobs that there are, in order.
func (r *Recorder) all() []*job {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.sortedJobs()
}
