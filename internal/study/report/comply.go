package report

import (
	"fmt"
	"math"
	"slices"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// SLOResult is the judgement of the SLOs on one level of one series.
type SLOResult struct {
	Standing runfile.Standing // the proven result; "" if the level could not be judged
	// Failed holds the labels of objectives that are missed or seem to be. It is ERRORS if
	// errors alone break an objective, and GIVEN UP if the sweep gave up the level before an
	// objective was missed.
	Failed []string
	// Nothing is concluded if the level did not carry its load, or if the prober or its machine
	// was the limit.
	NotReached, Limited bool
}

func (v SLOResult) judged() bool { return v.Standing != "" }

// Pass reports whether every objective was met by the measured turns, proven or not.
func (v SLOResult) Pass() bool { return v.judged() && len(v.Failed) == 0 }

// String returns the cell of the compliance matrix.
func (v SLOResult) String() string {
	switch {
	case v.NotReached:
		return "NOT REACHED"
	case v.Limited:
		return "UNDECIDED (the prober was the limit)"
	case !v.judged():
		return "n/a"
	}
	return runfile.LevelVerdict{Standing: v.Standing, Met: v.Pass()}.Words(v.Failed)
}

// Judge applies the objectives to a level. It uses the verdict of the sweep, or what the counted
// turns of several measurements prove together. Measurements that the prober spoiled do not count.
//
// A level without counted turns is judged by quantiles: each is compared with its threshold, and
// is undecided if its interval contains the threshold. Failed turns are worse than any threshold,
// so such a level also fails if its errors exceed the allowed share, if runs were left out for
// errors, or if the sweep gave it up.
func Judge(objectives []figures.Objective, l figures.Level) SLOResult {
	switch {
	case l.NotReached != "":
		return SLOResult{NotReached: true}
	case len(objectives) == 0, l.Verdict == nil && unsound(l) != "", l.Verdict != nil && l.Verdict.Unjudged():
		return SLOResult{Limited: len(objectives) > 0 && l.Limit != ""}
	case l.Verdict != nil:
		return byTurns(objectives, l)
	}
	return byQuantiles(objectives, l)
}

func byTurns(objectives []figures.Objective, l figures.Level) SLOResult {
	v := SLOResult{Standing: l.Verdict.Standing}
	for _, o := range objectives {
		if slices.Contains(l.Verdict.Lost, o.Name) && !slices.Contains(v.Failed, o.Label) {
			v.Failed = append(v.Failed, o.Label)
		}
	}
	if v.Standing == runfile.Missed && len(v.Failed) == 0 {
		v.Failed = []string{"GIVEN UP"}
	}
	return v
}

func byQuantiles(objectives []figures.Objective, l figures.Level) SLOResult {
	v := SLOResult{Standing: runfile.Met}
	var proven bool // an objective is proven to be missed
	for _, o := range objectives {
		f := l.Figure(o.Metric())
		if !f.Known() {
			v.Standing = ""
			continue
		}
		unsure := f.Ranged() && f.Low <= o.Threshold && o.Threshold < f.High
		if f.Value > o.Threshold {
			proven = proven || !unsure
			if !slices.Contains(v.Failed, o.Label) {
				v.Failed = append(v.Failed, o.Label)
			}
		}
		if unsure && v.Standing == runfile.Met {
			v.Standing = runfile.Undecided
		}
	}
	switch {
	case proven:
		v.Standing = runfile.Missed
	case len(v.Failed) > 0:
		v.Standing = runfile.Undecided
	case tooManyErrors(objectives, l):
		v.Standing, v.Failed = runfile.Missed, []string{"ERRORS"}
	case l.GivenUp:
		v.Standing, v.Failed = runfile.Missed, []string{"GIVEN UP"}
	}
	return v
}

func tooManyErrors(objectives []figures.Objective, l figures.Level) bool {
	if l.Valid < l.Runs {
		return true
	}
	return slices.ContainsFunc(objectives, func(o figures.Objective) bool {
		return l.Value(figures.ErrorPct) > 100-o.Share
	})
}

// Compliance is how far a series scales within the SLOs, compared with the baseline.
type Compliance struct {
	Series string
	// Highest is the highest compliant level: the highest proven level, or a higher one that
	// passes without a failure between. 0 means that no level complies. At holds its figures.
	Highest float64
	At      figures.Level
	// Seeming holds the levels that pass by the measured turns, but not with the wanted confidence.
	Seeming []float64
	// Proven holds the levels that are proven to pass and to fail, by the rule of a sweep. If
	// no measured level fails, the series may scale further.
	Proven runfile.Capacity
	// Least and Most bound the proven capacity, among the measured levels. Least is 0 without a
	// proven pass, Most is +∞ without a proven failure.
	Least, Most float64
	Top         bool // Highest is the highest level that was reached
	// Beyond holds levels above the first proven failure that pass again, because of noise or
	// because the deployment sheds load.
	Beyond    []float64
	Judged    bool    // at least one level could be judged
	ChangePct float64 // against the baseline
	// Unmeasured is set if the series and the baseline cannot be ranked, because the lower one
	// was not measured up to a level that it fails.
	Unmeasured bool
	// Winner is set for series that exceed the baseline and are not exceeded by another series.
	// Several may share the place.
	Winner bool
}

// Comply finds the highest compliant level of each series and ranks them against the first. No
// series wins unless it is proven to exceed the baseline.
func Comply(s *figures.Study) []Compliance {
	var all []Compliance
	best := 0.0
	for i, series := range s.Series {
		all = append(all, comply(s.Objectives, series))
		c, base := &all[i], all[0]
		c.ChangePct = 100 * (c.Highest/base.Highest - 1)
		c.Unmeasured = c.Highest != base.Highest && !c.provenBelow(base) && !base.provenBelow(*c)
		if i > 0 {
			best = max(best, c.Highest)
		}
	}
	for i := range all {
		all[i].Winner = i > 0 && all[i].Highest == best && all[0].provenBelow(all[i])
	}
	return all
}

func comply(objectives []figures.Objective, series figures.Series) Compliance {
	c, failed := Compliance{Series: series.Name}, false
	for _, l := range series.Levels {
		v := Judge(objectives, l)
		if c.Proven.Missed == nil && v.Standing != runfile.Missed {
			c.Most = l.At
		}
		if v.NotReached {
			continue
		}
		c.Judged = c.Judged || v.judged()
		c.Proven.AddLevel(l.At, runfile.LevelVerdict{Standing: v.Standing})
		if v.Standing == runfile.Undecided && v.Pass() {
			c.Seeming = append(c.Seeming, l.At)
		}
		switch met := v.Standing == runfile.Met; {
		case met && c.Proven.Missed != nil:
			c.Beyond = append(c.Beyond, l.At)
		case met, v.Pass() && !failed:
			c.Highest, c.At, failed = l.At, l, false
		default:
			failed = true
		}
	}
	c.Top = c.Highest > 0 && !failed
	if c.Proven.Level != nil {
		c.Least = *c.Proven.Level
	}
	if c.Proven.Missed == nil {
		c.Most = math.Inf(1)
	}
	return c
}

// between returns the capacity and its end: "80 (100 misses)", "80 or more".
func (c Compliance) between() string {
	if c.Proven.Missed != nil {
		return fmt.Sprintf("%g (%g misses)", c.Highest, *c.Proven.Missed)
	}
	return fmt.Sprintf("%g or more", c.Highest)
}

// provenBelow reports whether other is proven to scale further: c fails at a level at or below
// one that other meets. A series that passes wherever it was measured, as in a stopped sweep,
// has no proven end.
func (c Compliance) provenBelow(o Compliance) bool {
	missed, met := c.Proven.Missed, o.Proven.Level
	return c.Highest < o.Highest && missed != nil && met != nil && *missed <= *met
}
