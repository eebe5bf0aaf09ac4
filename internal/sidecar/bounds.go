package sidecar

import (
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
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
	pacers map[string]*wire.Pacer // by target
}

func newGuards() guards {
	limit := debug.SetMemoryLimit(-1) // which only asks
	if limit == math.MaxInt64 {
		limit = usualMemory
	}
	return guards{
		memory: bound.NewBudget(limit / memoryPart), connections: bound.NewBudget(wire.MaxConnections()),
		peaks: &probe.Peaks{}, mu: &sync.Mutex{}, pacers: map[string]*wire.Pacer{},
	}
}

// pacer returns the pacer of a target.
func (g guards) pacer(name string) *wire.Pacer {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pacers[name] == nil {
		g.pacers[name] = &wire.Pacer{}
	}
	return g.pacers[name]
}

// keep forgets the pacers of other targets. Whoever has one still goes by it.
func (g guards) keep(targets []target.Target) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.pacers, func(name string, _ *wire.Pacer) bool {
		return !slices.ContainsFunc(targets, func(t target.Target) bool { return t.Name == name })
	})
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
		{Name: "history_added_bytes", Level: g.peaks.Added.Level},
	}...)
}
