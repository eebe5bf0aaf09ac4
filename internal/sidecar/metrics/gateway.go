package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
)

const (
	// maxBackends bounds the values of the label backend of a job. Further ones count as otherBackend.
	maxBackends  = 20
	otherBackend = "other"
	// unknownBackend stands for answers that do not name what answered.
	unknownBackend = "unknown"
)

// gatewaySeries hold what a gateway reports.
type gatewaySeries struct {
	// turns counts the turns that it reports on, by backend.
	turns              map[string]float64
	retries, fallbacks float64
	overhead           prometheus.Summary
	// since is when the first turn of the current series of fallbacks was sent; last is when the latest ended.
	since, last time.Time
}

// observe counts a turn. A fallback begins a new series of fallbacks if none ended within silence before it.
func (g *gatewaySeries) observe(r *probe.Result, silence time.Duration, backends *bound.Peak) {
	if r.Gateway == (probe.Gateway{}) {
		return
	}
	if g.turns == nil {
		g.turns, g.overhead = map[string]float64{}, newTotal(GatewayOverhead)
	}
	g.turns[g.backend(r.Gateway.Backend)]++
	backends.Record(int64(len(g.turns)), maxBackends)
	g.retries += float64(r.Gateway.Retries.V)
	if r.Gateway.Overhead.OK {
		g.overhead.Observe(r.Gateway.Overhead.V.Seconds())
	}
	if r.Gateway.Fallbacks.V == 0 {
		return
	}
	g.fallbacks++
	if r.Sent.Sub(g.last) > silence || r.Sent.Before(g.since) {
		g.since = r.Sent
	}
	g.last = r.End
}

func (g *gatewaySeries) backend(name string) string {
	if name == "" {
		name = unknownBackend
	}
	if _, known := g.turns[name]; !known && len(g.turns) >= maxBackends {
		return otherBackend
	}
	return name
}

func (g *gatewaySeries) gather(e *exposition, l labels) {
	for backend, turns := range g.turns {
		e.add(GatewayTurns, l.with(labelBackend, backend), turns)
	}
	e.addTotal(GatewayOverhead, l, g.overhead)
}
