package serverside

import (
	"math"
	"time"

	"synthetic/internal/probe"
)

// State describes the load of a deployment, for all its clients. A figure is unknown if the deployment does
// not export it. Pages that could not be read are left out of sums.
type State struct {
	// Running and Waiting are numbers of requests.
	Running, Waiting probe.Opt[float64]
	// KVUse is the share of the KV cache that the fullest engine uses, from 0 to 1.
	KVUse probe.Opt[float64]
	// TokenAge is the longest time for which an engine has had running requests and made no tokens.
	// If no engine has running requests, it is the shortest time of all engines without tokens.
	TokenAge probe.Opt[time.Duration]
	// Preemptions is the increase since the previous reading.
	Preemptions probe.Opt[float64]
}

// number returns a figure of the sample; unknown if it is missing or not a finite number.
func (s Sample) number(r role) probe.Opt[float64] {
	v, ok := s.values[r]
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return probe.Opt[float64]{}
	}
	return probe.Some(v)
}

// change is a new sample of a page, with the one before; the zero Sample if there was none.
type change struct{ previous, current Sample }

// changes are those of the pages that were read.
type changes struct {
	pages []change
	// engines holds the figures that engines export. If frontends export them, too, those are not used.
	engines map[role]bool
}

// newChanges returns the changes of the pages that were read. latest holds the last sample of every
// page, including those that could not be read now.
func newChanges(read []change, latest map[string]Sample) changes {
	c := changes{pages: read, engines: map[role]bool{}}
	for _, sample := range latest {
		for r, front := range sample.front {
			c.engines[r] = c.engines[r] || !front
		}
	}
	return c
}

func (c changes) state() State {
	s := State{
		Running: c.sum(running), Waiting: c.sum(waiting), KVUse: c.highest(kvFullest), TokenAge: c.tokenAge(),
		Preemptions: c.growth(preemptions),
	}
	if held := c.sum(routerQueue); held.OK {
		s.Waiting = probe.Some(s.Waiting.V + held.V)
	}
	return s
}

// with returns the pages from which a figure is used.
func (c changes) with(r role) (used []change) {
	for _, p := range c.pages {
		if p.current.number(r).OK && !(c.engines[r] && p.current.front[r]) {
			used = append(used, p)
		}
	}
	return used
}

func (c changes) sum(r role) (all probe.Opt[float64]) {
	for _, p := range c.with(r) {
		all = probe.Some(all.V + p.current.values[r])
	}
	return all
}

func (c changes) highest(r role) (all probe.Opt[float64]) {
	for _, p := range c.with(r) {
		all = probe.Some(max(all.V, p.current.values[r]))
	}
	return all
}

// growth adds up the increases of a counter. It does not use the counts of a first reading, nor
// those after a fall, which means a restart.
func (c changes) growth(r role) (all probe.Opt[float64]) {
	for _, p := range c.with(r) {
		before, grown := p.previous.number(r), 0.0
		if before.OK {
			grown = max(0, p.current.values[r]-before.V)
		}
		all = probe.Some(all.V + grown)
	}
	return all
}

func (c changes) tokenAge() probe.Opt[time.Duration] {
	var busy, idle probe.Opt[time.Duration]
	for _, p := range c.with(progress) {
		for engine, grew := range p.current.grew {
			age := p.current.At.Sub(grew)
			if p.current.running[engine] > 0 {
				busy = probe.Some(max(busy.V, min(age, p.current.At.Sub(p.current.busy[engine]))))
			} else if !idle.OK || age < idle.V {
				idle = probe.Some(age)
			}
		}
	}
	if busy.OK {
		return busy
	}
	return idle
}

// markProgress records when each engine last made progress, and since when it has running requests.
func (s *Sample) markProgress(previous Sample) {
	s.grew, s.busy = map[string]time.Time{}, map[string]time.Time{}
	for engine, n := range s.running {
		s.busy[engine] = s.At
		if n > 0 && previous.running[engine] > 0 {
			s.busy[engine] = previous.busy[engine]
		}
	}
	for engine, n := range s.progress {
		s.grew[engine] = s.At
		if before, known := previous.progress[engine]; known && before == n {
			s.grew[engine] = previous.grew[engine]
		}
	}
}
