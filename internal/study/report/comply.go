package report

import (
	"cmp"
	"fmt"
	"slices"

	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// Judge returns the verdict on a level. Counted turns decide. A level without counted turns is judged by quantiles:
// each is compared with its threshold, and is undecided if its interval contains the threshold. Failed turns are worse
// than any threshold, so such a level also fails if its errors exceed the allowed share, if more than half of its runs
// were left out for errors, or if the sweep gave it up.
func Judge(objectives []slo.Objective, l Level) runs.LevelVerdict {
	switch {
	case len(objectives) == 0:
		return *runs.NotJudgedBecause("no SLO")
	case l.NotReached != "":
		return *runs.NotJudgedBecause("not reached")
	case l.Verdict != nil:
		v := *l.Verdict
		if v.Standing == runs.Missed && v.Lost == nil {
			v.Met, v.Lost = false, []string{givenUp}
		}
		return v
	}
	return judgeQuantiles(objectives, l)
}

// givenUp is what a level lost that the sweep gave up before it missed an objective, manyErrors what one lost with too
// many failed turns.
const givenUp, manyErrors = "GIVEN UP", "ERRORS"

func judgeQuantiles(objectives []slo.Objective, l Level) runs.LevelVerdict {
	v := runs.LevelVerdict{}
	var unknown string
	for _, o := range objectives {
		judged, seemsLost := judgeQuantile(o, l)
		v.SLOs = append(v.SLOs, judged)
		if seemsLost {
			v.Lost = append(v.Lost, o.Name)
		}
		if judged.Standing == runs.NotJudged {
			unknown = cmp.Or(unknown, judged.Why)
		}
	}
	v.Conclude()
	switch {
	case v.Standing == runs.Missed:
	case l.GivenUp:
		v.Standing = runs.Missed
		if v.Lost == nil {
			v.Lost = []string{givenUp}
		}
	case v.Lost != nil:
	case tooManyErrors(objectives, l):
		v.Standing, v.Lost = runs.Missed, []string{manyErrors}
	case unknown != "": // a quantile that a report lacks may exceed its threshold
		return *runs.NotJudgedBecause(unknown)
	}
	v.Met = v.Lost == nil && v.Standing != runs.Missed
	return v
}

func judgeQuantile(o slo.Objective, l Level) (v runs.SLOVerdict, seemsLost bool) {
	f := l.Figure(metricOf(o))
	v = runs.SLOVerdict{Name: o.Name, Standing: runs.Met}
	if seemsLost = f.Known() && f.Value > millis(o.Threshold); seemsLost {
		v.Standing = runs.Missed
	}
	switch {
	case !f.Known():
		v.Standing, v.Why = runs.NotJudged, fmt.Sprintf("%s is unknown", cmp.Or(metricOf(o).Title(), labelOf(o)))
	case f.Uncertain(), f.Ranged() && f.Low <= millis(o.Threshold) && millis(o.Threshold) < f.High:
		v.Standing, v.Why = runs.Undecided, "the interval of its quantile includes the limit"
	}
	return v, seemsLost
}

func tooManyErrors(objectives []slo.Objective, l Level) bool {
	return mostLeftOut(l) || slices.ContainsFunc(objectives, func(o slo.Objective) bool {
		return l.Value(ErrorPct) > 100-percent(o)
	})
}
