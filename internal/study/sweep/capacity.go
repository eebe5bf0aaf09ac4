package sweep

import "synthetic/internal/study/runfile"

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
		if r.Verdict.Decided != runfile.DecidedProvisional {
			last, measured = r.Verdict, append(measured, judgedTurnsOf(r, j.objectives))
		}
	}
	if len(measured) > 1 {
		return j.prove(measured...)
	}
	return last.Standing, last.Confidence
}
