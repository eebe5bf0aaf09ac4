package sweep

import (
	"math"

	"synthetic/internal/runfile"
	"synthetic/internal/slo"
)

const (
	// leastTurns and leastBlocks have to be judged before a level may be
	// decided early: the first moments are no fair sample of a level.
	leastTurns, leastBlocks = 20, 3
	// leastLost and leastMet shares of the planned time likewise. A level that
	// is lost has used up what it may have of bad turns, whatever still comes;
	// one that meets its objectives may yet fill its queue or cache.
	leastLost, leastMet = 0.1, 0.25
	// spare is by how much more turns may still come than came so far.
	spare = 1.2
)

// ballot has, for each objective by name, the judged turns block by block.
type ballot map[string][]tally

// judge decides whether a level meets its objectives.
type judge struct {
	objectives []slo.Objective
	confidence float64
}

// measured is the verdict on all that was measured: an objective is met when
// the share of good turns is at least the wanted one. Without a judged turn it
// is not.
func (j judge) measured(b ballot) *runfile.Verdict {
	v := &runfile.Verdict{Met: true, Decided: runfile.DecidedMeasured, Confidence: 1}
	for _, o := range j.objectives {
		good, bad, _ := count(b[o.Name])
		if n := good + bad; n == 0 || good/n < o.Objective {
			v.Met, v.Lost = false, append(v.Lost, o.Name)
		}
		v.Confidence = min(v.Confidence, j.certainty(o, b[o.Name]))
	}
	return v
}

// certainty that an objective is met.
func (j judge) certainty(o slo.Objective, blocks []tally) float64 {
	good, bad, _ := count(blocks)
	by := thin(blocks)
	return evidence{1 - o.Objective}.confidence(good/by, bad/by)
}

// lost is the verdict of a level that cannot meet its objectives, nil while
// that is open: an objective would be missed if every turn to come was good,
// up to so many times the turns that came; and that is no bad luck of a level
// that could. The allowed error is shared between the objectives, since one of
// them is enough.
func (j judge) lost(b ballot, times float64) *runfile.Verdict {
	limit := math.Log(float64(len(j.objectives)) / (1 - j.confidence))
	var names []string
	for _, o := range j.objectives {
		good, bad, _ := count(b[o.Name])
		if bad <= (1-o.Objective)*(good+bad)*max(times, 1) {
			continue
		}
		if good, bad, ok := enough(b[o.Name]); ok && (evidence{1 - o.Objective}).against(good, bad) >= limit {
			names = append(names, o.Name)
		}
	}
	if names == nil {
		return nil
	}
	v := j.measured(b)
	v.Met, v.Lost, v.Decided, v.Error = false, names, runfile.DecidedEarly, 1-j.confidence
	return v
}

// met is the verdict of a level that meets its objectives beyond doubt, nil
// while that is open. Every objective has to be met, so each may use the whole
// of the allowed error.
func (j judge) met(b ballot) *runfile.Verdict {
	limit := math.Log(1 / (1 - j.confidence))
	for _, o := range j.objectives {
		if good, bad, ok := enough(b[o.Name]); !ok || (evidence{1 - o.Objective}).inFavour(good, bad) < limit {
			return nil
		}
	}
	v := j.measured(b)
	v.Met, v.Lost, v.Decided, v.Error = true, nil, runfile.DecidedEarly, 1-j.confidence
	return v
}

// enough returns the thinned counts of an objective, and whether they suffice
// for an early decision.
func enough(blocks []tally) (good, bad float64, ok bool) {
	good, bad, n := count(blocks)
	if good+bad < leastTurns || n < leastBlocks {
		return 0, 0, false
	}
	by := thin(blocks)
	return good / by, bad / by, true
}

// count adds up blocks, and how many of them have turns.
func count(blocks []tally) (good, bad float64, n int) {
	for _, b := range blocks {
		good, bad = good+b.good, bad+b.bad
		if b.good+b.bad > 0 {
			n++
		}
	}
	return good, bad, n
}

// ballot counts what was judged until now. The turns lost in the tail are a
// block of their own.
func (c *collector) ballot() ballot {
	c.mu.Lock()
	defer c.mu.Unlock()
	level := runfile.Result{Tail: &c.tail}
	for _, s := range c.spans {
		level.Snapshots = append(level.Snapshots, s.Snapshot)
	}
	out := ballot{}
	for _, o := range c.objectives {
		judged, lost := level.Judged(o.Name)
		var blocks []tally
		for _, n := range judged {
			blocks = append(blocks, tally{float64(n.Good), float64(n.Bad)})
		}
		if lost > 0 {
			blocks = append(blocks, tally{bad: float64(lost)})
		}
		out[o.Name] = blocks
	}
	return out
}
