package sidecar

import (
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"synthetic/internal/bound"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/wire"
)

const (
	// memoryPart is the share of the process's memory limit that conversation texts may use:
	// 1/memoryPart. The garbage collector needs as much again; the rest is for series, pages
	// and the pager.
	memoryPart = 4
	// defaultMemory is the memory limit, in bytes, of a process without one.
	defaultMemory = 1 << 30
)

// targetResources keeps one target from using the resources of another. It outlives reloads.
type targetResources struct {
	memory, connections *bound.Budget
	peaks               *probe.Peaks
	backends            *bound.Peak
	// jobs is the number of jobs of the fleet in force, or of one that was refused for having too many.
	jobs atomic.Int64
	// untimed is true while a target is reached in a way that has no timestamps of the kernel.
	untimed atomic.Bool

	mu      sync.Mutex
	learned map[probe.Key]learned
}

// learned is what the jobs of a target share as long as it has the same address, API and model.
type learned struct {
	deployment [3]string
	fields     *probe.Learned
}

func newResources() *targetResources {
	limit := debug.SetMemoryLimit(-1) // a negative argument only reads the limit
	if limit == math.MaxInt64 {
		limit = defaultMemory
	}
	return &targetResources{
		memory: bound.NewBudget(limit / memoryPart), connections: bound.NewBudget(wire.MaxConnections()),
		peaks: &probe.Peaks{}, backends: &bound.Peak{}, learned: map[probe.Key]learned{},
	}
}

// learnedOf returns what a job shares with the other jobs of its target.
func (r *targetResources) learnedOf(job *probe.Job) *probe.Learned {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &job.Target
	mine := learned{[3]string{t.BaseURL, string(t.API), t.Model}, &probe.Learned{}}
	for other, l := range r.learned {
		if other.Target == t.Name && l.deployment == mine.deployment {
			mine = l
		}
	}
	r.learned[job.Key()] = mine
	return mine.fields
}

// forget drops a finished job.
func (r *targetResources) forget(job probe.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.learned, job)
}

// bounds returns the limits of this process that /metrics shows.
func (r *targetResources) bounds() []bound.Bound {
	return []bound.Bound{
		{Name: "conversation_memory_bytes", Level: r.memory.Level},
		{Name: "connections", Level: r.connections.Level},
		{Name: "answer_wire_bytes", Level: r.peaks.Wire.Level},
		{Name: "answer_text_bytes", Level: r.peaks.Answer.Level},
		{Name: "answer_events", Level: r.peaks.Events.Level},
		{Name: "gateway_backends", Level: r.backends.Level},
		{Name: "history_added_bytes", Level: r.peaks.Added.Level},
		{Name: "jobs", Level: func() (used, limit float64) { return float64(r.jobs.Load()), fleet.MaxJobs }},
	}
}
