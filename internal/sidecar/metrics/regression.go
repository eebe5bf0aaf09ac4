package metrics

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

// setRegression takes over what the snapshot says of a job's baselines.
func (j *job) setRegression(info Job, objectives []slo.Objective) {
	o := regression.Options{Deadlines: info.Deadlines, Changes: info.Changes, Benchmarks: info.Benchmarks}
	for k, kind := range probe.TurnKinds() {
		for i, sli := range []slo.SLI{slo.TTFT, slo.TPOT} { // as regression.Signals
			o.Thresholds[k][i] = strictest(objectives, sli, j.key, kind)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.regression.Configure(o)
}

// strictest is the lowest threshold of the objectives on an SLI that cover such
// turns; 0 for none.
func strictest(objectives []slo.Objective, sli slo.SLI, key probe.Key, kind probe.TurnKind) time.Duration {
	lowest := time.Duration(0)
	for _, o := range objectives {
		if o.SLI == sli && o.Covers(key.Target, key.Workload, kind) && (lowest == 0 || o.Threshold < lowest) {
			lowest = o.Threshold
		}
	}
	return lowest
}

// Baselines returns what must survive a restart, for regression.File.WriteFile.
func (r *Recorder) Baselines() regression.File {
	now := r.options.Now()
	r.mu.RLock()
	defer r.mu.RUnlock()
	var f regression.File
	for _, key := range sortedKeys(r.jobs) {
		j := r.jobs[key]
		j.mu.Lock()
		f.Jobs = append(f.Jobs, j.regression.State(key.Target, key.Workload, now))
		j.mu.Unlock()
	}
	return f
}

// RestoreBaselines takes over what an earlier process knew. A job that no
// snapshot has named yet takes its part when one does, as old as it is then.
func (r *Recorder) RestoreBaselines(f regression.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.restored = make(map[probe.Key]regression.JobState, len(f.Jobs))
	for _, j := range f.Jobs {
		r.restored[probe.Key{Target: j.Target, Workload: j.Workload}] = j
	}
	for _, j := range r.jobs {
		j.mu.Lock()
		r.restore(j)
		j.mu.Unlock()
	}
}

// restore gives a new job its part; the recorder's lock must be held, and the
// job's unless nobody else has it yet.
func (r *Recorder) restore(j *job) {
	if st, ok := r.restored[j.key]; ok {
		j.regression.Restore(st, r.options.Now())
		delete(r.restored, j.key)
	}
}
