package sweep

import (
	"math"
	"slices"

	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
)

const (
	// leastTurns and leastBlocks have to be judged before a level may be
	// decided early: the first moments are no fair sample of a level.
	leastTurns, leastBlocks = 20, 3
	// leastLost of the planned time likewise: a level that is lost has used up
	// what it may have of bad turns, whatever still comes.
	leastLost = 0.1
	// A level that meets its objectives may yet fill its queue or cache. To
	// search on above it takes leastLikely of its time, to call it the capacity
	// leastMet.
	leastLikely, leastMet = 0.25, 0.8
	// leastFutile is how long a level that can no longer be proven to meet its
	// objectives is still given to prove that it misses them.
	leastFutile = 0.5
	// headroom is by how much denser turns may still come than they came so far.
	headroom = 1.2
)

// judgedTurns has, for each objective by name, the judged turns block by block.
type judgedTurns map[string][]tally

type judge struct {
	objectives []slo.Objective
	confidence float64
}

// measured is the verdict on all that was measured: an objective is met when
// the share of good turns is at least the wanted one. Without a judged turn it
// is not.
func (j judge) measured(b judgedTurns) *runfile.Verdict {
	v := &runfile.Verdict{Met: true, Decided: runfile.DecidedMeasured}
	for _, o := range j.objectives {
		good, bad, _ := count(b[o.Name])
		if n := good + bad; n == 0 || good/n < o.Objective {
			v.Met, v.Lost = false, append(v.Lost, o.Name)
		}
	}
	v.Standing, v.Confidence = j.prove(b)
	return v
}

// prove says what measurements of one level prove together, and with which
// confidence every objective is met. To be proven met takes each objective, and
// each may use the whole of the allowed error; to be proven missed takes one of
// them, and they share it.
func (j judge) prove(measured ...judgedTurns) (runfile.Standing, float64) {
	met, missed := 1.0, 0.0
	for _, o := range j.objectives {
		var good, bad float64
		for _, b := range measured {
			g, n, _ := count(b[o.Name])
			by := designEffect(b[o.Name])
			good, bad = good+g/by, bad+n/by
		}
		e := evidence{1 - o.Objective}
		met, missed = min(met, e.confidence(good, bad)), max(missed, e.confidenceMissed(good, bad))
	}
	switch {
	case met >= j.confidence:
		return runfile.Met, met
	case missed >= 1-(1-j.confidence)/float64(len(j.objectives)):
		return runfile.Missed, met
	}
	return runfile.Undecided, met
}

// open is the verdict of a level that the prober itself spoiled: nothing is
// proven of it.
func (j judge) open(b judgedTurns) *runfile.Verdict {
	v := j.measured(b)
	v.Met, v.Standing, v.Confidence, v.Lost = false, runfile.Undecided, 0, nil
	return v
}

// lost is the verdict of a level that cannot meet its objectives, nil while
// that is open: an objective would be missed if every turn to come was good, up
// to so many times the turns that came (at least 1) in all; and that is no bad
// luck of a level that could. The allowed error is shared between the
// objectives, since one of them is enough.
func (j judge) lost(b judgedTurns, times float64) *runfile.Verdict {
	limit := math.Log(float64(len(j.objectives)) / (1 - j.confidence))
	var names []string
	for _, o := range j.objectives {
		good, bad, _ := count(b[o.Name])
		if bad <= (1-o.Objective)*(good+bad)*times {
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
	v.Met, v.Standing, v.Lost, v.Decided, v.Error = false, runfile.Missed, names, runfile.DecidedEarly, 1-j.confidence
	return v
}

// futile names the objectives that the whole level could no longer be proven to
// meet, were every turn to come good, up to so many times the turns that came.
func (j judge) futile(b judgedTurns, times float64) []string {
	var names []string
	for _, o := range j.objectives {
		good, bad, n := count(b[o.Name])
		if bad == 0 {
			continue
		}
		toCome := slices.Repeat([]tally{{good: (good + bad) / float64(n)}}, int(math.Ceil(float64(n)*(times-1))))
		if _, met := (judge{[]slo.Objective{o}, j.confidence}).prove(judgedTurns{o.Name: slices.Concat(b[o.Name], toCome)}); met < j.confidence {
			names = append(names, o.Name)
		}
	}
	return names
}

// met is the verdict of a level that surely meets its objectives, nil
// while that is open. Every objective has to be met, so each may use the whole
// of the allowed error.
func (j judge) met(b judgedTurns) *runfile.Verdict {
	limit := math.Log(1 / (1 - j.confidence))
	for _, o := range j.objectives {
		if good, bad, ok := enough(b[o.Name]); !ok || (evidence{1 - o.Objective}).inFavour(good, bad) < limit {
			return nil
		}
	}
	v := j.measured(b)
	v.Met, v.Standing, v.Lost, v.Decided, v.Error = true, runfile.Met, nil, runfile.DecidedEarly, 1-j.confidence
	return v
}

// enough returns the thinned counts of an objective, and whether they suffice
// for an early decision.
func enough(blocks []tally) (good, bad float64, ok bool) {
	good, bad, n := count(blocks)
	if good+bad < leastTurns || n < leastBlocks {
		return 0, 0, false
	}
	by := designEffect(blocks)
	return good / by, bad / by, true
}

func (c *collector) judgedTurns() judgedTurns {
	c.mu.Lock()
	defer c.mu.Unlock()
	return judgedTurnsOf(c.soFar(), c.objectives)
}

// soFar is what was measured until now. The caller holds mu.
func (c *collector) soFar() runfile.Result {
	level := runfile.Result{Tail: &c.tail}
	for _, s := range c.spans {
		level.Snapshots = append(level.Snapshots, s.Snapshot)
	}
	return level
}

// judgedTurnsOf counts what was judged of a level. The turns lost in the tail
// are a block of their own.
func judgedTurnsOf(level runfile.Result, objectives []slo.Objective) judgedTurns {
	out := judgedTurns{}
	for _, o := range objectives {
		judged, lost := level.Judged(o.Name)
		for _, n := range judged {
			out[o.Name] = append(out[o.Name], tally{float64(n.Good), float64(n.Bad)})
		}
		if lost > 0 {
			out[o.Name] = append(out[o.Name], tally{bad: float64(lost)})
		}
	}
	return out
}

// capacities says how far each variant scales, by the same rule for a grid and
// for a search: the results alone decide. Nil without objectives.
func (p Plan) capacities(results []runfile.Result) []runfile.Capacity {
	if len(p.SLOs) == 0 {
		return nil
	}
	var out []runfile.Capacity
	for _, v := range p.Variants {
		out = append(out, p.capacity(v.Name, results))
	}
	return out
}

// capacity of a variant: the highest level that is proven to meet the
// objectives, of those below the lowest one that is proven to miss them.
func (p Plan) capacity(variant string, results []runfile.Result) runfile.Capacity {
	c := runfile.Capacity{Variant: variant, Wanted: p.Confidence}
	if d := p.Measure.Duration(); d > 0 { // known before
		seconds := d.Seconds() * float64(len(p.Levels))
		c.GridSeconds = &seconds
	}
	seen := map[float64][]runfile.Result{}
	for _, r := range results {
		if r.Variant != variant || r.Verdict == nil {
			continue
		}
		seen[r.Level] = append(seen[r.Level], r)
		c.Visited = append(c.Visited, r.Level)
		for _, s := range r.Snapshots {
			c.MeasuredSeconds += s.Seconds
		}
	}
	for _, level := range p.Levels {
		if len(seen[level]) == 0 {
			continue
		}
		switch standing, confidence := (judge{p.SLOs, p.Confidence}).together(seen[level]); standing {
		case runfile.Met:
			c.Level, c.Confidence, c.Undecided = &level, confidence, nil
		case runfile.Undecided:
			c.Undecided = append(c.Undecided, level)
		case runfile.Missed:
			c.Missed = &level
			return c
		}
	}
	return c
}

// together is what the results of one level prove. One that was given up is
// missed, whatever came of others; a level that a search passed on its way
// counts only until it was measured for its own sake.
func (j judge) together(results []runfile.Result) (runfile.Standing, float64) {
	last := results[0].Verdict
	var measured []judgedTurns
	for _, r := range results {
		if r.State == runfile.EndedEarly && r.Verdict.Standing == runfile.Missed {
			return runfile.Missed, r.Verdict.Confidence
		}
		if r.Verdict.Decided != runfile.DecidedProvisional && !r.Spoiled() {
			last, measured = r.Verdict, append(measured, judgedTurnsOf(r, j.objectives))
		}
	}
	if len(measured) > 1 {
		return j.prove(measured...)
	}
	return last.Standing, last.Confidence
}
