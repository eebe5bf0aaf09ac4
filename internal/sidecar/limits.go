package sidecar

import (
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/probe/wire"
	"synthetic/internal/sidecar/httplimit"
)

// httpLimits bounds connections and concurrent requests, and so the cost of answering them.
type httpLimits struct {
	connections             *httplimit.Connections
	scrapes, pages, reloads *httplimit.Gate
}

func newHTTPLimits() httpLimits {
	return httpLimits{
		connections: httplimit.NewConnections(httplimit.MaxConnections),
		scrapes:     httplimit.NewGate("scrapes", httplimit.MaxScrapes),
		pages:       httplimit.NewGate("pages", httplimit.MaxPages),
		reloads:     httplimit.NewGate("reloads", httplimit.MaxReloads),
	}
}

// Server returns a server for Handler. Its listeners must come from Bounded.
func (s *Sidecar) Server() *http.Server {
	return httplimit.NewServer(s.Handler(), s.limits.connections, s.logger)
}

// Bounded limits the connections of l. All listeners share one limit.
func (s *Sidecar) Bounded(l net.Listener) net.Listener { return s.limits.connections.Limit(l) }

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
		limit = defaultMemory
	}
	return targetResources{
		memory: bound.NewBudget(limit / memoryPart), connections: bound.NewBudget(wire.MaxConnections()),
		peaks: &probe.Peaks{}, backends: &bound.Peak{}, mu: &sync.Mutex{}, shared: map[probe.Key]*shared{},
	}
}

// forJob returns the resources that a job shares with the other jobs of its target.
func (r targetResources) forJob(job probe.Key) *shared {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.ofTarget(job.Target)
	if s == nil {
		s = &shared{}
	}
	r.shared[job] = s
	return s
}

// ofTarget returns the shared resources of a target, or nil if it has no job. The caller holds
// mu.
func (r targetResources) ofTarget(target string) *shared {
	for job, s := range r.shared {
		if job.Target == target {
			return s
		}
	}
	return nil
}

// throttled returns the total delay of a target's reads.
func (r targetResources) throttled(target string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.ofTarget(target); s != nil {
		return s.pacer.Waited()
	}
	return 0
}

// forget drops a finished job. The shared resources go with the last job of a target.
func (r targetResources) forget(job probe.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.shared, job)
}

// bounds returns the limits of this process that /metrics shows.
func (s *Sidecar) bounds() []bound.Bound {
	l, r := s.limits, s.resources
	return []bound.Bound{
		{Name: "inbound_connections", Level: l.connections.Level},
		{Name: "inbound_scrapes", Level: l.scrapes.Level},
		{Name: "inbound_pages", Level: l.pages.Level},
		{Name: "inbound_reloads", Level: l.reloads.Level},
		{Name: "conversation_memory_bytes", Level: r.memory.Level},
		{Name: "connections", Level: r.connections.Level},
		{Name: "answer_wire_bytes", Level: r.peaks.Wire.Level},
		{Name: "answer_text_bytes", Level: r.peaks.Answer.Level},
		{Name: "answer_events", Level: r.peaks.Events.Level},
		{Name: "gateway_backends", Level: r.backends.Level},
		{Name: "history_added_bytes", Level: r.peaks.Added.Level},
		{Name: "jobs", Level: func() (used, limit float64) { return float64(s.jobs.Load()), config.MaxJobs }},
	}
}
