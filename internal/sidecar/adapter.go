package sidecar

import (
	"strconv"
	"sync"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/sidecar/sink"
)

// recorderSink is the recorder as a sink.
type recorderSink struct {
	*metrics.Recorder
	mu   sync.Mutex
	jobs map[probe.Key]sink.Job
}

func (r *recorderSink) Add(j sink.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[j.Key()] = j
	r.apply()
}

func (r *recorderSink) Remove(k probe.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, k)
	r.apply()
	r.Recorder.Forget(k)
}

func (r *recorderSink) apply() {
	var s metrics.Snapshot
	seen, slos := map[string]bool{}, map[string]bool{}
	for _, j := range r.jobs {
		if !seen[j.Target.Name] {
			seen[j.Target.Name] = true
			s.Targets = append(s.Targets, metrics.Target{Name: j.Target.Name, Model: j.Target.Model, Connection: string(j.Target.Connection), ServerMetrics: j.ServerMetrics})
		}
		for _, o := range j.Objectives {
			if !slos[o.Name] {
				slos[o.Name] = true
				s.SLOs = append(s.SLOs, o)
			}
		}
		limits := j.Workload.Timeouts
		m := metrics.Job{Target: j.Target.Name, Workload: j.Workload.Name, Rate: j.Traffic.Rate, Changes: j.Changes,
			Deadlines: regression.Deadlines{FirstToken: limits.FirstToken, Stall: limits.Stall, Total: limits.Total}}
		if b := j.Benchmark; b != nil {
			m.Benchmarks = b.Figures
			m.Benchmark = metrics.Benchmark{Run: b.Run, Variant: b.Variant, Level: strconv.FormatFloat(b.Level, 'g', -1, 64), Pooled: b.Pooled}
		}
		s.Jobs = append(s.Jobs, m)
	}
	r.Recorder.Apply(s)
}

func (r *recorderSink) ServerRead(target string, m serverside.Reading) {
	r.Recorder.ServerRead(target, metrics.ServerReading{
		Complete: m.Complete, Counted: m.Counted, Drafted: m.Drafted, Accepted: m.Accepted,
		Gauged: m.Gauged, Acceptance: m.Acceptance,
	})
}
