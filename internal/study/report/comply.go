package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// Judge returns the verdict on a level. Counted turns decide. A level without counted turns is
// judged by quantiles: each is compared with its threshold, and is undecided if its interval
// contains the threshold. Failed turns are worse than any threshold, so such a level also fails
// if its errors exceed the allowed share, if runs were left out for errors, or if the sweep gave
// it up.
func Judge(objectives []figures.Objective, l figures.Level) runfile.LevelVerdict {
	switch {
	case len(objectives) == 0:
		return *runfile.NotJudgedBecause("no SLO")
	case l.NotReached != "":
		return *runfile.NotJudgedBecause("not reached")
	case l.Verdict != nil:
		return *l.Verdict
	}
	return judgeQuantiles(objectives, l)
}

func judgeQuantiles(objectives []figures.Objective, l figures.Level) runfile.LevelVerdict {
	v := runfile.LevelVerdict{}
	var unknown string
	for _, o := range objectives {
		slo, seemsLost := judgeQuantile(o, l)
		v.SLOs = append(v.SLOs, slo)
		if seemsLost {
			v.Lost = append(v.Lost, o.Name)
		}
		if slo.Standing == runfile.NotJudged {
			unknown = cmp.Or(unknown, slo.Why)
		}
	}
	v.Conclude()
	switch {
	case v.Standing == runfile.Missed:
	case l.GivenUp:
		v.Standing = runfile.Missed
	case v.Lost != nil:
	case tooManyErrors(objectives, l):
		v.Standing, v.Lost = runfile.Missed, []string{"ERRORS"}
	case unknown != "": // a quantile that a report lacks may exceed its threshold
		return *runfile.NotJudgedBecause(unknown)
	}
	v.Met = v.Lost == nil && v.Standing != runfile.Missed
	return v
}

func judgeQuantile(o figures.Objective, l figures.Level) (v runfile.SLOVerdict, seemsLost bool) {
	f := l.Figure(o.Metric())
	v = runfile.SLOVerdict{Name: o.Name, Standing: runfile.Met}
	if seemsLost = f.Known() && f.Value > o.Threshold; seemsLost {
		v.Standing = runfile.Missed
	}
	switch {
	case f.Needed > f.N:
		v.Standing, v.Why = runfile.NotJudged, fmt.Sprintf("%s: %d turns measured, %d needed in all", o.Metric().Title(), f.N, f.Needed)
	case !f.Known():
		v.Standing, v.Why = runfile.NotJudged, fmt.Sprintf("%s is unknown", cmp.Or(o.Metric().Title(), o.Label))
	case f.Ranged() && f.Low <= o.Threshold && o.Threshold < f.High:
		v.Standing, v.Why = runfile.Undecided, "the interval of its quantile includes the limit"
	}
	return v, seemsLost
}

// labelOf returns the printed name of an objective.
func labelOf(objectives []figures.Objective) func(name string) string {
	return func(name string) string {
		i := slices.IndexFunc(objectives, func(o figures.Objective) bool { return o.Name == name })
		if i < 0 {
			return name
		}
		return objectives[i].Label
	}
}

// verdictWords returns the cell of the compliance matrix.
func verdictWords(objectives []figures.Objective, l figures.Level) string {
	return Judge(objectives, l).Words(labelOf(objectives))
}

func tooManyErrors(objectives []figures.Objective, l figures.Level) bool {
	if l.Valid < l.Runs {
		return true
	}
	return slices.ContainsFunc(objectives, func(o figures.Objective) bool {
		return l.Value(figures.ErrorPct) > 100-o.Share
	})
}

// Compliance is how far a series scales within the SLOs, compared with the baseline. Every
// statement about capacity in reports and gates comes from it.
type Compliance struct {
	// Capacity is what the verdicts of the levels prove, by the rule of a sweep.
	runfile.Capacity
	// Seeming holds the undecided levels that pass by the measured turns.
	Seeming []float64
	// Least and Most bound the capacity. Least is Level, or 0 without one. Most is the highest
	// judged level that is not proven to be missed, or to lie above one.
	Least, Most float64
	At          figures.Level // the level of Least
	// Beyond holds levels above the first proven failure that pass again, because of noise or
	// because the deployment sheds load.
	Beyond []float64
	Judged bool // at least one level could be judged
	// Change is the ratio of the capacity to the baseline's; NaN unless both are bracketed by
	// neighbouring levels.
	Change float64
	// Winner is set for series that exceed the baseline and are not exceeded by another series.
	// Several may share the place.
	Winner bool
}

// Comply finds the capacity of each series and ranks them against the first. No series wins
// unless it is proven to exceed the baseline.
func Comply(s *figures.Study) []Compliance {
	var all []Compliance
	best := 0.0
	for i, series := range s.Series {
		c := comply(s.Objectives, series)
		for _, swept := range s.Capacities {
			if swept.Variant == c.Variant {
				c.Wanted, c.Visited, c.MeasuredSeconds = swept.Wanted, swept.Visited, swept.MeasuredSeconds
			}
		}
		if all = append(all, c); i > 0 {
			best = max(best, c.Least)
		}
	}
	for i := range all {
		c, base := &all[i], all[0]
		c.Winner = i > 0 && c.Least == best && base.provenBelow(*c)
		c.Change = math.NaN()
		if c.bracketed() && base.bracketed() {
			c.Change = c.Least / base.Least
		}
	}
	return all
}

func comply(objectives []figures.Objective, series figures.Series) Compliance {
	c := Compliance{Capacity: runfile.Capacity{Variant: series.Name}}
	for _, l := range series.Levels {
		v := Judge(objectives, l)
		if c.Missed != nil && v.Standing == runfile.Met {
			c.Beyond = append(c.Beyond, l.At)
		}
		if c.AddLevel(l.At, v); v.Unjudged() {
			continue
		}
		if c.Judged = true; c.Missed == nil {
			c.Most = l.At
		}
		switch {
		case c.Missed != nil:
		case v.Standing == runfile.Met:
			c.Least, c.At, c.Seeming = l.At, l, nil
		case v.Met:
			c.Seeming = append(c.Seeming, l.At)
		}
	}
	return c
}

// bracketed reports whether the capacity lies between neighbouring levels.
func (c Compliance) bracketed() bool {
	return c.Level != nil && c.Missed != nil && len(c.Undecided)+len(c.unjudgedAbove()) == 0
}

// between returns the capacity and its bounds in words: "concurrency 80 (concurrency 100 fails)", "at least
// concurrency 80", "below concurrency 40", "not proven (concurrency 40 and 60 undecided)".
func (c Compliance) between(kind runfile.LevelKind) string {
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

// unjudgedAbove returns the levels above the capacity, and below a missed one, that were not
// judged.
func (c Compliance) unjudgedAbove() (all []float64) {
	for _, at := range c.NotJudged {
		if at > c.Least && c.Judged {
			all = append(all, at)
		}
	}
	return all
}

// provenBelow reports whether other is proven to scale further: c fails at a level at or below
// one that other meets. A series that passes wherever it was measured, as in a stopped sweep,
// has no proven end.
func (c Compliance) provenBelow(o Compliance) bool {
	return c.Missed != nil && o.Level != nil && *c.Missed <= *o.Level
}
