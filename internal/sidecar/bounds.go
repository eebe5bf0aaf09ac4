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

// guards are what keeps targets from each other's share of this process. They
// outlive reloads.
type guards struct {
	memory, connections *bound.Budget
	peaks               *probe.Peaks

	mu     *sync.Mutex
	pacers map[probe.Key]*wire.Pacer // the jobs of a target share one
}

func newGuards() guards {
	limit := debug.SetMemoryLimit(-1) // which only asks
	if limit == math.MaxInt64 {
		limit = usualMemory
	}
	return guards{
		memory: bound.NewBudget(limit / memoryPart), connections: bound.NewBudget(wire.MaxConnections()),
		peaks: &probe.Peaks{}, mu: &sync.Mutex{}, pacers: map[probe.Key]*wire.Pacer{},
	}
}

// pacer returns the pacer of a job's target, a new one for the first job of it.
func (g guards) pacer(job probe.Key) *wire.Pacer {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.of(job.Target)
	if p == nil {
		p = &wire.Pacer{}
	}
	g.pacers[job] = p
	return p
}

// of returns the pacer of a target, nil if it has no job. The caller holds mu.
func (g guards) of(target string) *wire.Pacer {
	for job, p := range g.pacers {
		if job.Target == target {
			return p
		}
	}
	return nil
}

// throttled is for how long the reads of a target were delayed.
func (g guards) throttled(target string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p := g.of(target); p != nil {
		return p.Waited()
	}
	return 0
}

// forget drops a job that is over, and with its last job a target's pacer.
func (g guards) forget(job probe.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pacers, job)
}

// bounds lists what may not be exceeded in this process, for the metrics.
func (s *Sidecar) bounds() []bound.Bound {
	g := s.guards
	return append(s.port.bounds(), []bound.Bound{
		{Name: "conversation_memory_bytes", Level: g.memory.Level},
		{Name: "connections", Level: g.connections.Level},
		{Name: "answer_wire_bytes", Level: g.peaks.Wire.Level},
		{Name: "answer_text_bytes", Level: g.peaks.Answer.Level},
		{Name: "answer_events", Level: g.peaks.Events.Level},
		{Name: "spans_queued", Level: s.spans.Level},
		{Name: "history_added_bytes", Level: g.peaks.Added.Level},
	}...)
}
