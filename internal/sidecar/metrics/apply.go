package metrics

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

// Snapshot is everything that is to be measured from now on.
type Snapshot struct {
	Targets []Target
	Jobs    []Job
	SLOs    []slo.Objective
}

// Target describes a target. An empty Model is to be discovered and keeps
// what SetModel said last; Connection is how long its connections live.
type Target struct {
	Name, Model, Connection string
	// ServerMetrics says that its own metrics are read, for ServerRead.
	ServerMetrics bool
}

// Job is one workload sent to one target, at Rate conversations per
// second; 0 for closed-loop traffic.
type Job struct {
	Target, Workload string
	Rate             float64
	// Deadlines are the bounds of its turns, which a turn without a value
	// enters as.
	Deadlines regression.Deadlines
	// Changes are the declared change windows of its target.
	Changes []regression.Change
	// Benchmarks stand in for learned baselines, by kind of turn and signal, and
	// are shown beside the live figures.
	Benchmarks regression.Benchmarks
	// Benchmark says where they are from; the zero value exports none of them.
	Benchmark Benchmark
}

// reload is what is known of the last load of the configuration.
type reload struct {
	successful, lastSuccess float64
}

// Apply makes the series fit the snapshot. A new job starts with all its
// series at 0, so that increase() sees its first failure; a known job keeps
// its series whatever else changed; a job that is not in the snapshot keeps
// them until its last conversation has ended (or Forget). An SLO is known by
// its name: a changed threshold continues the counter, and judges by the new
// one from here on.
func (r *Recorder) Apply(s Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.generation++
	r.spare = nil
	r.targets = r.withKnownModels(s.Targets)
	r.keepServers(s.Targets)
	r.slos = slices.Clone(s.SLOs)
	r.rates = make(map[probe.Key]float64, len(s.Jobs))
	r.benchmarks = make(map[probe.Key]benchmarked)
	for _, info := range s.Jobs {
		key := probe.Key{Target: info.Target, Workload: info.Workload}
		r.rates[key] = info.Rate
		if info.Benchmark != (Benchmark{}) {
			r.benchmarks[key] = benchmarked{info.Benchmark, info.Benchmarks}
		}
		if r.jobs[key] == nil {
			r.jobs[key] = newJob(key, r.layouts)
			r.restore(r.jobs[key])
		}
		r.jobs[key].setSLOs(s.SLOs)
		r.jobs[key].setRegression(info, s.SLOs)
	}
	r.retireOthers()
}

// Forget removes the series of a job that Apply has taken out, even if it has
// something in flight whose end is lost. A job that the last snapshot names is
// left alone: it may have been taken out and put back while its old loop was
// still draining.
func (r *Recorder) Forget(key probe.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, wanted := r.rates[key]; !wanted {
		r.forget(key)
	}
}

// SetModel says which model a target turned out to serve. A target that is not
// in the snapshot is left alone.
func (r *Recorder) SetModel(target, model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.targets {
		if r.targets[i].Name == target && r.targets[i].Model != model {
			r.targets[i].Model = model
			r.changed()
		}
	}
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

// withKnownModels fills in the models that discovery has found.
func (r *Recorder) withKnownModels(targets []Target) []Target {
	targets = slices.Clone(targets)
	for i, t := range targets {
		known := slices.IndexFunc(r.targets, func(o Target) bool { return o.Name == t.Name })
		if t.Model == "" && known >= 0 {
			targets[i].Model = r.targets[known].Model
		}
	}
	return targets
}

// retireOthers marks the jobs that have no rate, because the snapshot does not
// name them, and removes those that are idle.
func (r *Recorder) retireOthers() {
	for key, j := range r.jobs {
		_, wanted := r.rates[key]
		j.mu.Lock()
		j.retired = !wanted
		over := j.retired && j.idle()
		j.mu.Unlock()
		if over {
			r.forget(key)
		}
	}
}

// dropRetired removes a job unless a snapshot has taken it up again.
func (r *Recorder) dropRetired(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, wanted := r.rates[j.key]; !wanted && r.jobs[j.key] == j {
		r.forget(j.key)
	}
}

func (r *Recorder) forget(key probe.Key) {
	delete(r.jobs, key)
	r.changed()
}

// changed makes the next scrape lay out its series anew.
func (r *Recorder) changed() {
	r.generation++
	r.spare = nil
}
