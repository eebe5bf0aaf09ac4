package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// Compliance is how far a series is proven to scale within the SLOs. The gate decides by it.
type Compliance struct {
	// Capacity is what the verdicts of the levels prove, by the rule of a sweep.
	runs.Capacity
	// Least and Most bound the capacity. Least is Level, or 0 without one. Most is the highest
	// judged level that is not proven to be missed, or to lie above one.
	Least, Most float64
	Judged      bool // at least one level could be judged
}

// Comply finds the proven capacity of each series.
func Comply(s *Study) (all []Compliance) {
	for _, series := range s.Series {
		all = append(all, comply(s.Objectives, series))
	}
	return all
}

func comply(objectives []slo.Objective, series Series) Compliance {
	c := Compliance{Capacity: runs.Capacity{Variant: series.Name}}
	for _, l := range series.Levels {
		v := Judge(objectives, l)
		if c.AddLevel(l.At, v); v.Unjudged() {
			continue
		}
		if c.Judged = true; c.Missed == nil {
			c.Most = l.At
		}
		if c.Level != nil {
			c.Least = *c.Level
		}
	}
	return c
}

// between returns the capacity and its bounds in words: "concurrency 80 (concurrency 100 fails)", "at least
// concurrency 80", "below concurrency 40", "not proven (concurrency 40 and 60 undecided)".
func (c Compliance) between(kind runs.LevelKind) string {
	var notes []string
	if len(c.Undecided) > 0 {
		notes = append(notes, kind.At(c.Undecided...)+" undecided")
	}
	above := c.unjudgedAbove()
	if above != nil {
		notes = append(notes, kind.At(above...)+" not judged")
	}
	if c.Missed != nil {
		notes = append(notes, kind.At(*c.Missed)+" fails")
	}
	text := kind.At(c.Least)
	switch {
	case !c.Judged:
		return "not known"
	case c.Level == nil && len(c.Undecided) == 0:
		return "below " + kind.At(*c.Missed)
	case c.Level == nil:
		text = "not proven"
	case c.Missed == nil && len(c.Undecided) == 0:
		text = "at least " + text
	}
	if notes == nil {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(notes, ", "))
}

// unjudgedAbove returns the levels above the capacity, and below a missed one, that were not judged.
func (c Compliance) unjudgedAbove() (all []float64) {
	for _, at := range c.NotJudged {
		if at > c.Least && c.Judged {
			all = append(all, at)
		}
	}
	return all
}
