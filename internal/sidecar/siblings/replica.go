package siblings

import (
	"math"

	"synthetic/internal/probe"
)

// name tells the replicas of a group apart.
type name struct{ target, worker string }

// replica is one target, or one worker behind a front door.
type replica struct {
	name
	strata [strata]*past
	// since is the step from which it is judged: what has just started is cold.
	// earlier is that of the start before: not three of them are within an hour.
	since, earlier int64
	// row is how many turns in a row nobody answered.
	row int
	// lately are those of its turns that are counted among its group's.
	lately tally
	// seen is the step of its last turn.
	seen    int64
	failing failing
	// score is the highest of now, ending that of what has to be low for a page to
	// be over; up says that there is one.
	score, ending float64
	up            bool
	// total and weight are the sums behind the ratios that are exported.
	total, weight [kinds][signals]float64
}

func newReplica(n name, since int64) *replica { return &replica{name: n, since: since, seen: since} }

// take adds the values of a turn, none further than clip from the level of all.
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

// judge ends the look at a replica: a page begins at 1, and is over when the
// shorter windows show less than half of it, or nothing at all.
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

// restart is what unanswered turns end with: it is cold again.
func (m *replica) restart(since int64) {
	m.earlier, m.since, m.failing.sum = m.since, since, 0
	m.forget()
}

// forget lets the past be past, but for what was learned: long windows still hold
// what is over.
func (m *replica) forget() {
	for k, p := range m.strata {
		if p != nil {
			m.strata[k] = &past{usual: p.usual}
		}
	}
}

// begin forgets the last look.
func (m *replica) begin() {
	m.score, m.ending = 0, 0
	m.total, m.weight = [kinds][signals]float64{}, [kinds][signals]float64{}
}

// ratios are those to the median of all; 0/0 is not known.
func (m *replica) ratios() (out [kinds][signals]float64) {
	for k := range out {
		for i := range out[k] {
			out[k][i] = math.Exp(m.total[k][i] / m.weight[k][i])
		}
	}
	return out
}
