package sweep

import (
	"math"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

const (
	// minTurns and minBlocks must be judged before an early decision, because the first moments
	// do not represent a level.
	minTurns, minBlocks = 20, 3
	// minLost is the share of the planned time before which a level is not given up.
	minLost = 0.1
	// A level that meets its objectives may still fill its queue or cache. A search continues
	// above it after minProvisional of its time, and accepts it as the capacity after minMet.
	minProvisional, minMet = 0.25, 0.8
	// minFutile is the share of its time after which a level ends if it can no longer be proven
	// to meet its objectives. Until then it may still be proven to miss them.
	minFutile = 0.5
	// headroom is how much denser the remaining turns may come than the turns so far.
	headroom = 1.2
)

// lost returns the verdict of a level that cannot meet its objectives any more, nil for other
// levels. Such a level misses an objective even if every turn to come is good, up to the given
// number of times the turns so far, and a sequential test rules out bad luck. The objectives
// share the allowed error, because missing one is enough.
func (j *watcher) lost(b stats.Turns, times float64) *runfile.LevelVerdict {
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
func (j *watcher) futile(b stats.Turns, times float64) []string {
	var names []string
	for _, o := range j.Objectives {
		good, bad, _ := stats.Count(b[o.Name])
		if bad == 0 {
			continue
		}
		// The effect uses the turns so far only. With good turns appended they would look like
		// a drift.
		e := stats.Evidence{Allowed: 1 - o.Objective}
		effect, goodToCome := e.DesignEffect(b[o.Name]), (good+bad)*(times-1)
		if e.Confidence((good+goodToCome)/effect, bad/effect) < j.Confidence {
			names = append(names, o.Name)
		}
	}
	return names
}

// met returns the verdict of a level that certainly meets its objectives, nil for others. Each
// objective may use the whole allowed error, because all must be met.
func (j *watcher) met(b stats.Turns) *runfile.LevelVerdict {
	limit := math.Log(1 / (1 - j.Confidence))
	v := j.JudgeTurns(b)
	if v.Unjudged() {
		return nil
	}
	for i, o := range j.Objectives {
		if v.SLOs[i].Standing == runfile.NotJudged { // no turn has its value
			continue
		}
		e := stats.Evidence{Allowed: 1 - o.Objective}
		if blocks := b[o.Name]; !hasEnoughTurns(blocks) || e.InFavour(e.EffectiveCounts(blocks)) < limit {
			return nil
		}
	}
	v.Met, v.Standing, v.Lost, v.Decided, v.Error = true, runfile.Met, nil, runfile.DecidedEarly, 1-j.Confidence
	return v
}

func hasEnoughTurns(blocks []stats.Tally) bool {
	good, bad, n := stats.Count(blocks)
	return good+bad >= minTurns && n >= minBlocks
}

func (p Plan) judge() stats.Judge {
	return stats.Judge{Objectives: p.objectives(), Confidence: p.Confidence}
}

// capacities returns the capacity of each variant, with the planned time of all listed levels;
// nil without objectives.
func (p Plan) capacities(run *runfile.Run, listed int) []runfile.Capacity {
	if len(p.SLOs) == 0 {
		return nil
	}
	var out []runfile.Capacity
	for _, v := range p.Variants {
		c := p.judge().Capacity(v.Name, run)
		if d := p.Measure.Duration(); d > 0 { // 0 if unknown in advance
			seconds := d.Seconds() * float64(listed)
			c.GridSeconds = &seconds
		}
		out = append(out, c)
	}
	return out
}
