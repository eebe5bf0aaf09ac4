package sweep

import (
	"math"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

const (
	// leastTurns and leastBlocks have to be judged before a level may be
	// decided early: the first moments are no fair sample of a level.
	minTurns, minBlocks = 20, 3
	// leastLost of the planned time likewise: a level that is lost has used up
	// what it may have of bad turns, whatever still comes.
	minLost = 0.1
	// A level that meets its objectives may yet fill its queue or cache. To
	// search on above it takes leastLikely of its time, to call it the capacity
	// leastMet.
	minProvisional, minMet = 0.25, 0.8
	// leastFutile is how long a level that can no longer be proven to meet its
	// objectives is still given to prove that it misses them.
	minFutile = 0.5
	// headroom is by how much denser turns may still come than they came so far.
	headroom = 1.2
)

// judgement is what a watcher decides by.
type judgement struct{ stats.Judge }

// lost is the verdict of a level that cannot meet its objectives, nil while
// that is open: an objective would be missed if every turn to come was good, up
// to so many times the turns that came (at least 1) in all; and that is no bad
// luck of a level that could. The allowed error is shared between the
// objectives, since one of them is enough.
func (j judgement) lost(b stats.Turns, times float64) *runfile.LevelVerdict {
	limit := math.Log(float64(len(j.Objectives)) / (1 - j.Confidence))
	var names []string
	for _, o := range j.Objectives {
		good, bad, _ := stats.Count(b[o.Name])
		if bad <= (1-o.Objective)*(good+bad)*times {
			continue
		}
		e := stats.Evidence{Allowed: 1 - o.Objective}
		if blocks := b[o.Name]; hasEnoughTurns(blocks) && e.Against(e.EffectiveCounts(blocks)) >= limit {
			names = append(names, o.Name)
		}
	}
	if names == nil {
		return nil
	}
	v := j.JudgeTurns(b)
	v.Met, v.Standing, v.Lost, v.Decided, v.Error = false, runfile.Missed, names, runfile.DecidedEarly, 1-j.Confidence
	return v
}

// futile names the objectives that the whole level can no longer be proven to meet, even if all
// its turns to come are good. The level will have the given number of times the turns so far.
func (j judgement) futile(b stats.Turns, times float64) []string {
	var names []string
	for _, o := range j.Objectives {
		good, bad, _ := stats.Count(b[o.Name])
		if bad == 0 {
			continue
		}
		// The effect is that of the turns so far: good turns appended to them would look like
		// a drift.
		e := stats.Evidence{Allowed: 1 - o.Objective}
		effect, goodToCome := e.DesignEffect(b[o.Name]), (good+bad)*(times-1)
		if e.Confidence((good+goodToCome)/effect, bad/effect) < j.Confidence {
			names = append(names, o.Name)
		}
	}
	return names
}

// met is the verdict of a level that surely meets its objectives, nil
// while that is open. Every objective has to be met, so each may use the whole
// of the allowed error.
func (j judgement) met(b stats.Turns) *runfile.LevelVerdict {
	limit := math.Log(1 / (1 - j.Confidence))
	for _, o := range j.Objectives {
		e := stats.Evidence{Allowed: 1 - o.Objective}
		if blocks := b[o.Name]; !hasEnoughTurns(blocks) || e.InFavour(e.EffectiveCounts(blocks)) < limit {
			return nil
		}
	}
	v := j.JudgeTurns(b)
	v.Met, v.Standing, v.Lost, v.Decided, v.Error = true, runfile.Met, nil, runfile.DecidedEarly, 1-j.Confidence
	return v
}

// enough reports whether the blocks have enough judged turns for an early decision.
func hasEnoughTurns(blocks []stats.Tally) bool {
	good, bad, n := stats.Count(blocks)
	return good+bad >= minTurns && n >= minBlocks
}

func (p Plan) judge() stats.Judge {
	return stats.Judge{Objectives: p.objectives(), Confidence: p.Confidence}
}

// capacities says how far each variant scales, beside the time that so many
// levels as were listed would have taken; nil without objectives.
func (p Plan) capacities(run *runfile.Run, listed int) []runfile.Capacity {
	if len(p.SLOs) == 0 {
		return nil
	}
	var out []runfile.Capacity
	for _, v := range p.Variants {
		c := p.judge().Capacity(v.Name, run)
		if d := p.Measure.Duration(); d > 0 { // known before
			seconds := d.Seconds() * float64(listed)
			c.GridSeconds = &seconds
		}
		out = append(out, c)
	}
	return out
}
