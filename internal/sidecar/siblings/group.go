package siblings

import (
	"math"
	"time"

	"synthetic/internal/sidecar/sink"
)

const (
	// follow is the number of steps in which a lasting difference is learned: six hours. It is
	// learned up to mostUsual, so that a factor of three still counts as two.
	follow    = 2160.0
	mostUsual = 0.405
	// youngLimit is the smallest limit before differences were learned: a factor of two.
	youngLimit = math.Ln2
)

// group holds siblings: the targets of a service and workload, or the workers behind one front
// door.
type group struct {
	policy sink.Siblings
	// smallest difference that pages, by index of sink.Signals
	leastDifference [signals]time.Duration
	// share of the service's accepted false pages
	share float64
	// began is the step of its first turn, 0 before it; at is the last finished step.
	began, at int64
	replicas  map[name]*replica
	noise     [strata]noise

	chances chances
	// lately counts the recent turns of the replicas in heard, which have had a recent turn.
	lately tally
	heard  int
}

// look is a replica in a stratum at a step.
type look struct {
	of    *replica
	past  *past
	sums  [windows]sums
	above [windows]float64
}

func newGroup(at int64) *group {
	g := &group{at: at, share: 1, replicas: map[name]*replica{}}
	for k := range g.noise {
		g.noise[k] = newNoise()
	}
	return g
}

// pass compares the replicas in all steps before now.
func (g *group) pass(now int64) {
	for g.at = max(g.at, now-1-steps); g.at < now-1; {
		g.at++
		g.compare()
	}
}

// compare compares all replicas at one step.
func (g *group) compare() {
	g.chances = promise(g.policy.FalsePages*g.share, len(g.replicas))
	g.lately, g.heard = tally{}, 0
	for _, m := range g.replicas {
		m.begin()
		if m.lately = m.failing.tally; g.at-m.failing.last >= unheard || m.lately.turns < leastTurns {
			m.lately = tally{}
			continue
		}
		g.heard++
		g.lately.failed += m.lately.failed
		g.lately.turns += m.lately.turns
	}
	for k := range strata {
		g.compareIn(k)
	}
	for id, m := range g.replicas {
		m.judge(g.at, g.chances.failing)
		if m.worker != "" && g.at-m.seen > forgotten {
			delete(g.replicas, id)
		}
	}
	if g.at%hour == 0 {
		for k := range g.noise {
			for w := range windows {
				g.noise[k].highest[w].close()
			}
		}
	}
}

// compareIn compares the replicas with enough turns in one stratum.
func (g *group) compareIn(k int) {
	var looks []look
	for _, m := range g.replicas {
		if s := m.strata[k].windows(g.at); s[windows-1].n > 0 && g.at >= m.since {
			looks = append(looks, look{of: m, past: m.strata[k], sums: s})
		}
	}
	if len(looks) < leastReplicas {
		return
	}
	g.noise[k].spread(looks)
	for w := range windows {
		g.compareOver(looks, k, w)
	}
	for _, l := range looks {
		if l.sums[shown].n < leastTurns {
			continue
		}
		l.of.total[k/4][k%2] += l.sums[shown].n * l.above[shown]
		l.of.weight[k/4][k%2] += l.sums[shown].n
		if !l.of.up {
			l.past.usual = min(max(l.past.usual+(l.above[shown]-l.past.usual)/follow, -mostUsual), mostUsual)
		}
	}
}

// spread learns how much single turns vary within a minute.
func (s *noise) spread(looks []look) {
	var squares, freedom float64
	for _, l := range looks {
		if v := l.sums[1]; v.n >= 2 {
			squares += v.within()
			freedom += v.n - 1
		}
	}
	if freedom >= leastTurns {
		s.turn.add(squares/freedom, learned)
	}
}

// compareOver compares them over one window.
func (g *group) compareOver(looks []look, k, w int) {
	var means, turns []float64
	for _, l := range looks {
		if l.sums[w].n >= leastTurns {
			means = append(means, l.sums[w].mean())
		}
	}
	if len(means) < leastReplicas {
		return
	}
	s := &g.noise[k]
	middle := median(means)
	if w == shown {
		s.level.V, s.level.OK = middle, true
	}
	means = means[:0]
	for i := range looks {
		l := &looks[i]
		if l.sums[w].n < leastTurns {
			continue
		}
		l.above[w] = l.sums[w].mean() - middle
		d := l.above[w] - l.past.usual
		g.score(l, k, w, d, middle)
		if !l.of.up {
			means, turns = append(means, d), append(turns, l.sums[w].n)
		}
	}
	if len(means) >= leastReplicas {
		s.learn(w, means, turns)
	}
}

// score updates how near a replica is to a page, by one window.
func (g *group) score(l *look, k, w int, d, middle float64) {
	limit := max(g.noise[k].limit(w, l.sums[w].n, g.chances), math.Log(g.policy.Ratio))
	if g.at-g.began < learned {
		limit = max(limit, youngLimit)
	}
	score := d / limit
	if seconds := math.Exp(middle) * math.Expm1(max(0, l.above[w])); seconds < g.leastDifference[k%2].Seconds() {
		score = min(score, 0.49)
	}
	l.of.score = max(l.of.score, score)
	if w == 1 || w == shown {
		l.of.ending = max(l.of.ending, score)
	}
}

// failingElsewhere returns the share of failed turns of a replica's siblings, and false with
// too little data.
func (g *group) failingElsewhere(of *replica) (float64, bool) {
	others := g.heard
	if of.lately.turns > 0 {
		others--
	}
	rest := tally{max(0, g.lately.failed-of.lately.failed), g.lately.turns - of.lately.turns}
	return rest.share(), others >= leastReplicas-1
}
