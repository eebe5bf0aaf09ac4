// Package judge says what counted turns prove of a level's objectives, and of
// the capacity of a variant. The sweep that measures and the report that is
// written of it judge by it alike.
package stats

import (
	"cmp"

	"synthetic/internal/study/runfile"
)

// Turns has, for each objective by name, the judged turns block by block.
type Turns map[string][]Tally

// Judge applies objectives with a confidence, in (0, 1).
type Judge struct {
	Objectives []runfile.Objective
	Confidence float64
}

// Of is what the sweep of a run judged by.
func NewJudge(r *runfile.Run) Judge {
	j := Judge{Objectives: r.SLOs, Confidence: cmp.Or(r.Confidence, defaultConfidence)}
	if len(r.Capacities) > 0 && r.Confidence == 0 {
		j.Confidence = r.Capacities[0].Wanted
	}
	return j
}

// defaultConfidence is that of files that do not say it.
const defaultConfidence = 0.95

// Conclude is the verdict on a result of a run that was measured to its end: one
// that did not carry its load, or of which the prober was the limit, is open.
func (j Judge) Conclude(run *runfile.Run, x runfile.Result) *runfile.Verdict {
	if x.Spoiled() || run.NotReached(x) != "" {
		return j.Open(j.TurnsOf(x))
	}
	return j.Measured(j.TurnsOf(x))
}

// Measured is the verdict on all that was measured: an objective is met when
// the share of good turns is at least the wanted one. Without a judged turn it
// is not.
func (j Judge) Measured(all ...Turns) *runfile.Verdict {
	v := &runfile.Verdict{Met: true, Decided: runfile.DecidedMeasured}
	for _, o := range j.Objectives {
		var good, n float64
		for _, b := range all {
			g, bad, _ := Count(b[o.Name])
			good, n = good+g, n+g+bad
		}
		if n == 0 || good/n < o.Objective {
			v.Met, v.Lost = false, append(v.Lost, o.Name)
		}
	}
	v.Standing, v.Confidence = j.Prove(all...)
	return v
}

// Prove says what measurements of one level prove together, and with which
// confidence every objective is met. To be proven met takes each objective, and
// each may use the whole of the allowed error; to be proven missed takes one of
// them, and they share it.
func (j Judge) Prove(measured ...Turns) (runfile.Standing, float64) {
	met, missed := 1.0, 0.0
	for _, o := range j.Objectives {
		var good, bad float64
		for _, b := range measured {
			g, n, _ := Count(b[o.Name])
			by := DesignEffect(b[o.Name])
			good, bad = good+g/by, bad+n/by
		}
		e := Evidence{1 - o.Objective}
		met, missed = min(met, e.confidence(good, bad)), max(missed, e.confidenceMissed(good, bad))
	}
	switch {
	case met >= j.Confidence:
		return runfile.Met, met
	case missed >= 1-(1-j.Confidence)/float64(len(j.Objectives)):
		return runfile.Missed, met
	}
	return runfile.Undecided, met
}

// Open is the verdict of a level of which nothing is proven, because the prober
// itself spoiled it or it was not reached.
func (j Judge) Open(b Turns) *runfile.Verdict {
	v := j.Measured(b)
	v.Met, v.Standing, v.Confidence, v.Lost = false, runfile.Undecided, 0, nil
	return v
}

// TurnsOf counts what was judged of a level. The turns lost in the tail are a
// block of their own.
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

// withoutSliver joins the last block to the one before when it has less than half
// of their mean turns: the measurement ended, or was looked at, within it. One bad
// turn of three would pass for a burst.
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

// Together is what the results of one level, at least one, prove. One that was
// given up is missed, whatever came of others; a level that a search passed on
// its way counts only until it was measured for its own sake; what the prober
// itself spoiled proves nothing.
func (j Judge) Together(results []runfile.Result) *runfile.Verdict {
	var last *runfile.Verdict
	var measured []Turns
	for _, r := range results {
		v := r.Verdict
		switch {
		case v != nil && r.State == runfile.EndedEarly && v.Standing == runfile.Missed:
			return v
		case r.Spoiled():
		case v == nil: // no sweep wrote the file, or it was stopped
			last, measured = j.Measured(j.TurnsOf(r)), append(measured, j.TurnsOf(r))
		case v.Decided != runfile.DecidedProvisional:
			last, measured = v, append(measured, j.TurnsOf(r))
		}
	}
	switch {
	case len(measured) > 1:
		return j.Measured(measured...)
	case last != nil:
		return last
	case results[0].Verdict != nil && !results[0].Spoiled():
		return results[0].Verdict
	}
	return j.Open(nil)
}
