package fleet

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

// Job is a probe.Job with everything that its turns are judged by.
type Job struct {
	probe.Job
	// Objectives are the SLOs that cover turns of the job.
	Objectives []slo.Objective
	// Changes are the declared change windows of the target.
	Changes []Change
	// Policy says when a change is a regression; the zero value means DefaultPolicy.
	Policy Policy
	// Footprint is the expected usage.
	Footprint workload.Footprint
	// Location is the time zone of the target's users; nil means UTC.
	Location *time.Location
	// ServerMetrics is true if the metrics of the target's server are read.
	ServerMetrics bool
}

// Planned reports whether a time is planned downtime: in a change window, or outside of the hours of the traffic.
func (j *Job) Planned(at time.Time) bool {
	return !j.Traffic.Hours.Cover(at) || slices.ContainsFunc(j.Changes, func(c Change) bool { return c.Covers(at) })
}

// Sink follows jobs. Its methods are called from many goroutines and must not block.
type Sink interface {
	// Add announces a job before its first event, or a new configuration of a known job, whose
	// series continue.
	Add(Job)
	// Observe takes an event. An event of an unknown or removed job is dropped.
	Observe(probe.Event)
	// Remove ends a job after its last event.
	Remove(probe.Key)
}

// Fanout passes everything to several sinks, in order.
type Fanout []Sink

func (f Fanout) Add(j Job) {
	for _, s := range f {
		s.Add(j)
	}
}

func (f Fanout) Observe(e probe.Event) {
	for _, s := range f {
		s.Observe(e)
	}
}

func (f Fanout) Remove(k probe.Key) {
	for _, s := range f {
		s.Remove(k)
	}
}
