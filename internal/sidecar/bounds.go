package sidecar

import (
	"math"
	"runtime/debug"
	"sync"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/wire"
)

const (
	// memoryPart is the share of the process's memory limit that conversation texts may use:
	// 1/memoryPart. The garbage collector needs as much again; the rest is for series, pages
	// and the pager.
	memoryPart = 4
	// usualMemory, in bytes, replaces the memory limit if none is set.
	usualMemory = 1 << 30
)

// targetResources keeps one target from using the resources of another. It outlives reloads.
type targetResources struct {
	memory, connections *bound.Budget
	peaks               *probe.Peaks

	mu     *sync.Mutex
	shared map[probe.Key]*shared // one value for all jobs of a target
}

// shared is used by all probers of one target.
type shared struct {
	pacer   wire.Pacer
	learned probe.Learned
}

func newResources() targetResources {
	limit := debug.SetMemoryLimit(-1) // a negative argument only reads the limit
	if limit == math.MaxInt64 {
		limit = usualMemory
	}
	return targetResources{
		memory: bound.NewBudget(limit / memoryPart), connections: bound.NewBudget(wire.MaxConnections()),
		peaks: &probe.Peaks{}, mu: &sync.Mutex{}, shared: map[probe.Key]*shared{},
	}
}

// forJob returns the resources that a job shares with the other jobs of its target.
func (g targetResources) forJob(job probe.Key) *shared {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.of(job.Target)
	if s == nil {
		s = &shared{}
	}
	g.shared[job] = s
	return s
}

// of returns the shared resources of a target, or nil if it has no job. The caller holds mu.
func (g targetResources) of(target string) *shared {
	for job, s := range g.shared {
		if job.Target == target {
			return s
		}
	}
	return nil
}

// throttled returns the total delay of a target's reads.
func (g targetResources) throttled(target string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.of(target); p != nil {
		return p.pacer.Waited()
	}
	return 0
}

// forget drops a finished job. The shared resources go with the last job of a target.
func (g targetResources) forget(job probe.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.shared, job)
}

// bounds returns the limits of this process that /metrics shows.
func (s *Sidecar) bounds() []bound.Bound {
	g := s.resources
	return append(s.limits.bounds(), []bound.Bound{
		{Name: "conversation_memory_bytes", Level: g.memory.Level},
		{Name: "connections", Level: g.connections.Level},
		{Name: "answer_wire_bytes", Level: g.peaks.Wire.Level},
		{Name: "answer_text_bytes", Level: g.peaks.Answer.Level},
		{Name: "answer_events", Level: g.peaks.Events.Level},
		{Name: "spans_queued", Level: s.spans.Level},
		{Name: "history_added_bytes", Level: g.peaks.Added.Level},
	}...)
}
