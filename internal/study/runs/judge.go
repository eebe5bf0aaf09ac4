package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"synthetic/internal/slo"
)

// Turns holds the judged turns of each objective, by its name, block by block.
type Turns map[string][]Judged

// Judge applies objectives with a confidence in (0, 1).
type Judge struct {
	Objectives []slo.Objective
	Confidence float64
}

// NewJudge returns the judge that the sweep of a run used.
func NewJudge(r *Run) Judge {
	return Judge{Objectives: r.SLOs, Confidence: cmp.Or(r.Confidence, defaultConfidence)}
}

// defaultConfidence applies to files without a confidence.
const defaultConfidence = 0.95

// notReached is the reason why a level that did not carry its load is not judged.
const notReached = "not reached"

// Conclude returns the verdict on a complete result. The level is not judged if it did not carry its load.
func (j Judge) Conclude(run *Run, result Result) *LevelVerdict {
	if run.NotReached(result) != "" {
		return NotJudgedBecause(notReached)
	}
	return j.JudgeTurns(j.TurnsOf(result))
}

// JudgeTurns returns the verdict on all measurements of one level together. "Met" needs every objective, and each may
// use the whole allowed error. "Missed" needs one objective, and they share the allowed error.
func (j Judge) JudgeTurns(all ...Turns) *LevelVerdict {
	v := &LevelVerdict{Confidence: 1}
	judged := false
	for _, o := range j.Objectives {
		blocks := make([][]Judged, len(all))
		for i, turns := range all {
			blocks[i] = turns[o.Name]
		}
		sum := Count(slices.Concat(blocks...))
		if sum.turns() == 0 {
			v.SLOs = append(v.SLOs, withoutTurns(o))
			if isRestricted(o) {
				v.Confidence = 0
			}
			continue
		}
		judged = true
		if float64(sum.Good)/sum.turns() < o.Objective {
			v.Lost = append(v.Lost, o.Name)
		}
		proven, confidence := j.prove(o, blocks)
		v.SLOs, v.Confidence = append(v.SLOs, proven), min(v.Confidence, confidence)
	}
	v.Met = judged && v.Lost == nil
	if !judged {
		return NotJudgedBecause("no turn")
	}
	v.Conclude()
	return v
}

// withoutTurns returns the verdict on an objective by which no turn was judged. Answers of one
// token have no TPOT, for example, so that such an objective does not apply. An objective for a
// kind or a size of turn, or for right answers may only have seen none yet.
func withoutTurns(o slo.Objective) SLOVerdict {
	if isRestricted(o) {
		return SLOVerdict{Name: o.Name, Standing: Undecided, Why: "no such turn was measured"}
	}
	return SLOVerdict{Name: o.Name, Standing: NotJudged, Why: "no turn has one"}
}

func isRestricted(o slo.Objective) bool {
	return len(o.Turns) > 0 || o.Uncached != slo.Tokens{} || o.SLI == slo.Correct
}

// prove returns what blocks of judged turns prove about an objective, and the confidence that it
// is met. Late turns may all be good, or all bad.
func (j Judge) prove(o slo.Objective, blocks [][]Judged) (v SLOVerdict, confidence float64) {
	e := Evidence{1 - o.Objective}
	sum, effect := Count(slices.Concat(blocks...)), e.DesignEffect(blocks...)
	good, bad, late := float64(sum.Good), float64(sum.Bad), float64(sum.Late)
	prove := func(good, bad float64) Standing {
		standing, _ := j.standing(e, good/effect, bad/effect)
		return standing
	}
	v.Name = o.Name
	v.Standing, confidence = j.standing(e, good/effect, bad/effect)
	switch {
	case v.Standing == Undecided:
		v.Why = toSettle(good, bad, prove)
	case prove(good, bad+late) != prove(good+late, bad):
		v.Standing = Undecided
		v.Why = fmt.Sprintf("the prober was late in %.0f of %.0f turns, which decides; give it more CPU", late, good+bad+late)
	}
	return v, confidence
}

// toSettle says how many turns would settle an objective, if their share of bad turns stays.
func toSettle(good, bad float64, prove func(good, bad float64) Standing) string {
	for times := 1.0; times < mostTimes || bad == 0 && times < 1e9; times *= 1.1 {
		if prove(times*good, times*bad) != Undecided {
			return fmt.Sprintf("%.0f turns measured, about %s needed in all", good+bad, roundUp(times*(good+bad)))
		}
	}
	return "too close to the limit to decide"
}

// standing returns what effective numbers of turns prove, and the confidence that the objective is met.
func (j Judge) standing(e Evidence, good, bad float64) (Standing, float64) {
	met := e.Confidence(good, bad)
	switch {
	case met >= j.Confidence:
		return Met, met
	case e.confidenceMissed(good, bad) >= 1-(1-j.Confidence)/float64(len(j.Objectives)):
		return Missed, met
	}
	return Undecided, met
}

// mostTimes is how many times as many turns an undecided objective with bad turns may need until
// it is called too close to its limit.
const mostTimes = 20

// roundUp returns a number with two significant digits, rounded up.
func roundUp(v float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return fmt.Sprintf("%.0f", math.Ceil(v/unit)*unit)
}

// TurnsOf returns the judged turns of a level.
func (j Judge) TurnsOf(level Result) Turns {
	out := Turns{}
	for _, o := range j.Objectives {
		out[o.Name] = level.judged(o.Name)
	}
	return out
}

// Abandoned returns the verdict on a level whose target was lost: it is missed, whatever its turns show.
func (j Judge) Abandoned(result Result) *LevelVerdict {
	v := j.JudgeTurns(j.TurnsOf(result))
	v.Met, v.Standing, v.Why, v.Confidence = false, Missed, "", 0
	return v
}

// Level returns the verdict on one level from its results, at least one. A level that was given
// up is missed regardless of other results. Results that were not reached prove nothing.
func (j Judge) Level(run *Run, results []Result) *LevelVerdict {
	var measured []Turns
	why := ""
	for _, r := range results {
		v := r.Verdict
		early := v != nil && r.State == EndedEarly
		switch {
		case run.NotReached(r) != "":
			why = cmp.Or(why, notReached)
		case early && v.Standing == Missed:
			return j.Abandoned(r)
		case early && v.Unjudged():
			why = r.Why
		default:
			measured = append(measured, j.TurnsOf(r))
		}
	}
	if measured != nil {
		return j.JudgeTurns(measured...)
	}
	return NotJudgedBecause(cmp.Or(why, "no turn"))
}

// Rejudge renews the verdicts on the complete results of a merged run.
func Rejudge(run *Run) {
	j := NewJudge(run)
	for i, r := range run.Results {
		if r.State == Complete && len(j.Objectives) > 0 {
			run.Results[i].Verdict = j.Conclude(run, r)
		}
	}
}
