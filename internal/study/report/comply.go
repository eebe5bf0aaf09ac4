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

// capacity is how far a series meets the SLOs.
type capacity struct {
	runs.Capacity
	Meets, Fails *Level    // the levels Level and Missed; nil without one
	Unsettled    bool      // chance could turn the verdict on one of both
	Beyond       []float64 // levels above Missed that pass again
}

// capacityOf returns the capacity of a series: the proven one, which the gate uses, or that of the measured percentiles.
// The measured one has no undecided levels.
func capacityOf(s *Study, series Series, proven bool) capacity {
	c := capacity{Capacity: runs.Capacity{Variant: series.Name}}
	for i, l := range series.Levels {
		v := Judge(s.Objectives, l)
		undecided := v.Standing == runs.Undecided
		if undecided && !proven {
			v.Standing = map[bool]runs.Standing{true: runs.Met, false: runs.Missed}[v.Met]
		}
		if c.Missed != nil {
			if v.Standing == runs.Met {
				c.Beyond = append(c.Beyond, l.At)
			}
			continue
		}
		switch c.AddLevel(l.At, v); v.Standing {
		case runs.Met:
			c.Meets, c.Unsettled = &series.Levels[i], undecided
		case runs.Missed:
			c.Fails, c.Unsettled = &series.Levels[i], c.Unsettled || undecided
		}
	}
	return c
}

// measuredCapacities returns the capacity of every series by its measured percentiles.
func measuredCapacities(s *Study) (all []capacity) {
	for _, series := range s.Series {
		all = append(all, capacityOf(s, series, false))
	}
	return all
}

// unknown names the levels above the capacity that were not judged.
func (c capacity) unknown() string {
	if !c.Judged() || c.NotJudged == nil {
		return ""
	}
	return " (" + runs.FormatLevels(c.NotJudged, ", ") + " not judged)"
}
