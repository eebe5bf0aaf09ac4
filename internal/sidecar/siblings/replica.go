package siblings

import (
	"math"

	"synthetic/internal/probe"
)

// name identifies a replica in its group.
type name struct{ target, worker string }

// replica is one target, or one worker behind a front door.
type replica struct {
	name
	strata [strata]*past
	// since is the first step in which it is judged, because a new replica is cold. earlier is
	// that of the previous start: a replica gets at most two such starts an hour.
	since, earlier int64
	// number of consecutive unanswered turns
	row int
	// its turns in the tally of its group
	lately tally
	// step of its last turn
	seen    int64
	failing failing
	// score is the current maximum, ending the value that must be low for a page to end; up is
	// true during a page.
	score, ending float64
	up            bool
	// sums behind the exported ratios
	total, weight [kinds][signals]float64
}

func newReplica(n name, since int64) *replica { return &replica{name: n, since: since, seen: since} }

// take adds the values of a turn, clipped to a distance of clip from the level of all.
func (m *replica) take(r *probe.Result, values [signals]probe.Opt[float64], g *group, at int64) {
	m.seen = at
	if at < m.since {
		return
	}
	for i, v := range values {
		if !v.OK {
			continue
		}
		k := stratum(r, i)
		x := v.V
		if level := g.noise[k].level; level.OK {
			x = min(max(x, level.V-clip), level.V+clip)
		}
		if m.strata[k] == nil {
			m.strata[k] = &past{}
		}
		m.strata[k].add(at, x)
	}
}

// judge finishes a look at the replica. A page begins at a score of 1, and ends when the
// shorter windows show less than half of it, or have no turns.
func (m *replica) judge(at int64, limit float64) {
	failing := m.failing.score(at, limit)
	m.score = max(m.score, failing)
	switch {
	case !m.up && m.score >= 1:
		m.up = true
	case m.up && max(m.ending, failing) < 0.5:
		m.up, m.score = false, 0
		m.forget()
	}
	if m.up {
		m.score = max(m.score, 1)
	}
}

// restart marks the replica as cold after unanswered turns.
func (m *replica) restart(since int64) {
	m.earlier, m.since, m.failing.sum = m.since, since, 0
	m.forget()
}

// forget drops the past except what was learned, because long windows still contain it.
func (m *replica) forget() {
	for k, p := range m.strata {
		if p != nil {
			m.strata[k] = &past{usual: p.usual}
		}
	}
}

// begin resets the results of the last look.
func (m *replica) begin() {
	m.score, m.ending = 0, 0
	m.total, m.weight = [kinds][signals]float64{}, [kinds][signals]float64{}
}

// ratios returns the ratios to the median of all; NaN if unknown.
func (m *replica) ratios() (out [kinds][signals]float64) {
	for k := range out {
		for i := range out[k] {
			out[k][i] = math.Exp(m.total[k][i] / m.weight[k][i])
		}
	}
	return out
}
