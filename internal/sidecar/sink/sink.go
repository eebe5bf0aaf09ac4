// Package sink says what the sidecar's metrics, pages and log get to know: the
// jobs there are, and what happens in them.
package sink

import (
	"fmt"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

// Job is a job with all that a sink judges its turns by.
type Job struct {
	probe.Job
	// Objectives are the SLOs that cover any of its turns.
	Objectives []slo.Objective
	// Changes are the declared change windows of its target.
	Changes []Change
	// Benchmark is what its turns are compared with; nil where that is learned.
	Benchmark *Benchmark
	// Policy is what a regression of its turns is; the zero value means that of a
	// job alone.
	Policy Policy
	// Siblings is when a replica of its service pages; what is 0 has its default.
	Siblings Siblings
	// Footprint is what it is expected to spend, Price what that costs; nil where
	// nobody said.
	Footprint workload.Footprint
	Price     *workload.Price
	// ServerMetrics says that the metrics of its target's server are read.
	ServerMetrics bool
}

// Siblings is when a replica pages because it is unlike its siblings.
type Siblings struct {
	// FalsePages is how many pages for nothing all replicas of a service together may
	// bring in 30 days.
	FalsePages float64
	// Ratio is the least ratio to the siblings that pages.
	Ratio float64
	// WarmUp is for how long a replica that came later than the others is not judged.
	WarmUp time.Duration
}

// Benchmark is one level of a measurement that a job is compared with.
type Benchmark struct {
	Run, Variant string
	// Kind of level: "concurrency" or "rate".
	Kind  string
	Level float64
	// Pooled says that it does not tell first turns from follow-up turns.
	Pooled bool
	// Figures stand in for learned baselines, by kind of turn and signal.
	Figures Figures
	// Learned are the kinds of turn of the job that are not compared with it,
	// since it has too few of them or does not tell them apart.
	Learned []probe.TurnKind
}

// Source says where the benchmark was measured.
func (b Benchmark) Source() string {
	return fmt.Sprintf("%s of %s at %s %g", b.Variant, b.Run, b.Kind, b.Level)
}

// Sink follows jobs. Its methods are called from many goroutines and must not
// block.
type Sink interface {
	// Add announces a job before its first event, or a new configuration of a
	// job that is known: its series go on.
	Add(Job)
	// Observe takes what happens in a job. What is told of a job that was
	// removed, or never added, is dropped.
	Observe(probe.Event)
	// Remove ends a job after its last event.
	Remove(probe.Key)
}

// Fanout is a sink that hands everything to several, in order.
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
