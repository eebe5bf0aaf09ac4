package stats

import (
	"cmp"
	"maps"
	"slices"

	"synthetic/internal/study/runfile"
)

// Turns holds the judged turns of each objective, by its name, block by block.
type Turns map[string][]Tally

// Judge applies objectives with a confidence in (0, 1).
type Judge struct {
	Objectives []runfile.Objective
	Confidence float64
}

// NewJudge returns the judge that the sweep of a run used.
func NewJudge(r *runfile.Run) Judge {
	j := Judge{Objectives: r.SLOs, Confidence: cmp.Or(r.Confidence, defaultConfidence)}
	if len(r.Capacities) > 0 && r.Confidence == 0 {
		j.Confidence = r.Capacities[0].Wanted
	}
	return j
}

// defaultConfidence applies to files without a confidence.
const defaultConfidence = 0.95

// Conclude returns the verdict on a complete result. The level is undecided if it did not carry
// its load or the prober was the limit.
func (j Judge) Conclude(run *runfile.Run, result runfile.Result) *runfile.LevelVerdict {
	turns := j.TurnsOf(result)
	if result.Spoiled() || run.NotReached(result) != "" {
		return j.Unproven(turns)
	}
	return j.JudgeTurns(turns)
}

// JudgeTurns returns the verdict on all measurements: an objective is met if the share of good
// turns reaches the wanted one. It is not met without a judged turn.
func (j Judge) JudgeTurns(all ...Turns) *runfile.LevelVerdict {
	v := &runfile.LevelVerdict{Met: true, Decided: runfile.DecidedMeasured}
	for _, o := range j.Objectives {
		var good, n float64
		for _, turns := range all {
			g, bad, _ := Count(turns[o.Name])
			good, n = good+g, n+g+bad
		}
		if n == 0 || good/n < o.Objective {
			v.Met, v.Lost = false, append(v.Lost, o.Name)
		}
	}
	v.Standing, v.Confidence = j.prove(all...)
	return v
}

// prove returns what measurements of one level prove together, and the confidence that every
// objective is met. "Met" needs every objective, and each may use the whole allowed error.
// "Missed" needs one objective, and they share the allowed error.
func (j Judge) prove(measured ...Turns) (runfile.Standing, float64) {
	met, missed := 1.0, 0.0
	for _, o := range j.Objectives {
		blocks := make([][]Tally, len(measured))
		for i, m := range measured {
			blocks[i] = m[o.Name]
		}
		e := Evidence{1 - o.Objective}
		good, bad := e.EffectiveCounts(blocks...)
		met, missed = min(met, e.Confidence(good, bad)), max(missed, e.confidenceMissed(good, bad))
	}
	switch {
	case met >= j.Confidence:
		return runfile.Met, met
	case missed >= 1-(1-j.Confidence)/float64(len(j.Objectives)):
		return runfile.Missed, met
	}
	return runfile.Undecided, met
}

// Unproven returns the verdict of a level without proof, because of the prober or because it was
// not reached.
func (j Judge) Unproven(turns Turns) *runfile.LevelVerdict {
	v := j.JudgeTurns(turns)
	v.Met, v.Standing, v.Confidence, v.Lost = false, runfile.Undecided, 0, nil
	return v
}

// TurnsOf counts the judged turns of a level. Turns lost at the end are a block of their own.
func (j Judge) TurnsOf(level runfile.Result) Turns {
	out := Turns{}
	for _, o := range j.Objectives {
		judged, lost := level.Judged(o.Name)
		for _, n := range judged {
			out[o.Name] = append(out[o.Name], Tally{float64(n.Good), float64(n.Bad)})
		}
		out[o.Name] = withoutSliver(out[o.Name])
		if lost > 0 {
			out[o.Name] = append(out[o.Name], Tally{Bad: float64(lost)})
		}
	}
	return out
}

// withoutSliver joins the last block to the previous one if it has less than half of the mean
// number of turns, because the measurement ended within it. One bad turn of three would look
// like a burst.
func withoutSliver(blocks []Tally) []Tally {
	last := len(blocks) - 1
	if last < 1 {
		return blocks
	}
	good, bad, _ := Count(blocks[:last])
	end := blocks[last]
	if 2*(end.Good+end.Bad)*float64(last) >= good+bad {
		return blocks
	}
	blocks[last-1].Good += end.Good
	blocks[last-1].Bad += end.Bad
	return blocks[:last]
}

// Combine returns the verdict on one level from its results, at least one. A level that was
// given up is missed regardless of other results. A level that a search only passed counts
// until it is measured. Results that the prober spoiled prove nothing.
func (j Judge) Combine(results []runfile.Result) *runfile.LevelVerdict {
	var last *runfile.LevelVerdict
	var measured []Turns
	for _, r := range results {
		v := r.Verdict
		switch {
		case v != nil && r.State == runfile.EndedEarly && v.Standing == runfile.Missed:
			return v
		case r.Spoiled():
		case v == nil: // the file is older, or the sweep was stopped
			last, measured = j.JudgeTurns(j.TurnsOf(r)), append(measured, j.TurnsOf(r))
		case v.Decided != runfile.DecidedProvisional:
			last, measured = v, append(measured, j.TurnsOf(r))
		}
	}
	switch {
	case len(measured) > 1:
		return j.JudgeTurns(measured...)
	case last != nil:
		return last
	case results[0].Verdict != nil && !results[0].Spoiled():
		return results[0].Verdict
	}
	return j.Unproven(nil)
}

// Capacity returns the capacity of a variant, by the same rule for a grid and for a search:
// what its levels prove in rising order (see runfile.Capacity.AddLevel). Levels that were not
// reached are listed and prove nothing.
func (j Judge) Capacity(variant string, run *runfile.Run) runfile.Capacity {
	c := runfile.Capacity{Variant: variant, Wanted: j.Confidence}
	seen := map[float64][]runfile.Result{}
	for _, r := range run.Results {
		if r.Variant != variant || r.Verdict == nil {
			continue
		}
		c.Visited = append(c.Visited, r.Level)
		for _, s := range r.Snapshots {
			c.MeasuredSeconds += s.Seconds
		}
		seen[r.Level] = append(seen[r.Level], r)
	}
	for _, level := range slices.Sorted(maps.Keys(seen)) {
		reached := slices.DeleteFunc(seen[level], func(r runfile.Result) bool { return run.NotReached(r) != "" })
		if len(reached) == 0 {
			c.NotReached = append(c.NotReached, level)
			continue
		}
		if c.AddLevel(level, *j.Combine(reached)); c.Missed != nil {
			break
		}
	}
	return c
}
