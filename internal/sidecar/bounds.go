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
	// memoryPart is the part of this process's memory that the texts of
	// conversations may take: 1/memoryPart. The garbage collector needs as much
	// again, and the rest is for series, pages and the pager.
	memoryPart = 4
	// usualMemory is what is taken for the limit where there is none, in bytes.
	usualMemory = 1 << 30
)

// targetResources are what keeps targets from each other's share of this process. They
// outlive reloads.
type targetResources struct {
	memory, connections *bound.Budget
	peaks               *probe.Peaks

	mu     *sync.Mutex
	shared map[probe.Key]*shared // the jobs of a target have one
}

// shared is what the probers of a target have in common.
type shared struct {
	pacer   wire.Pacer
	learned probe.Learned
}

func newResources() targetResources {
	limit := debug.SetMemoryLimit(-1) // which only asks
	if limit == math.MaxInt64 {
		limit = usualMemory
	}
	return targetResources{
		memory: bound.NewBudget(limit / memoryPart), connections: bound.NewBudget(wire.MaxConnections()),
		peaks: &probe.Peaks{}, mu: &sync.Mutex{}, shared: map[probe.Key]*shared{},
	}
}

// forJob returns what a job shares with those of its target, anew for the first.
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

// of returns what the jobs of a target share, nil if it has none. The caller
// holds mu.
func (g targetResources) of(target string) *shared {
	for job, s := range g.shared {
		if job.Target == target {
			return s
		}
	}
	return nil
}

// throttled is for how long the reads of a target were delayed.
func (g targetResources) throttled(target string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.of(target); p != nil {
		return p.pacer.Waited()
	}
	return 0
}

// forget drops a job that is over, and with its last job what a target shares.
func (g targetResources) forget(job probe.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.shared, job)
}

// bounds lists what may not be exceeded in this process, for the metrics.
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
