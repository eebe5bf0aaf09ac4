// Package analysis draws conclusions from studies: which levels meet the SLOs,
// where a configuration saturates, how two differ and which one wins. Every
// conclusion is computed from figures; nothing is rounded before it is drawn,
// unless a figure is only known as printed.
package figures

import (
	"fmt"
	"math"
	"slices"

	"synthetic/internal/study/runfile"
)

// SLOResult is what the SLOs say of one level of one series.
type SLOResult struct {
	// Standing is what is proven; "" when the level could not be judged.
	Standing runfile.Standing
	// Failed are the labels of the objectives that were missed, or seem to be;
	// ERRORS where errors alone break one, GIVEN UP where the sweep gave the level
	// up before one was missed.
	Failed []string
	// NotReached says that the level did not carry its load, so that nothing is
	// concluded.
	NotReached bool
	// Limited says that nothing is, because the prober or its machine was the limit.
	Limited bool
}

// Judged reports whether the level could be judged.
func (v SLOResult) Judged() bool { return v.Standing != "" }

// Pass reports whether every objective was met by what was seen, be it proven or
// not.
func (v SLOResult) Pass() bool { return v.Judged() && len(v.Failed) == 0 }

// String is the cell of the compliance matrix.
func (v SLOResult) String() string {
	switch {
	case v.NotReached:
		return "NOT REACHED"
	case v.Limited:
		return "UNDECIDED (the prober was the limit)"
	case !v.Judged():
		return "n/a"
	}
	return runfile.LevelVerdict{Standing: v.Standing, Met: v.Pass()}.Words(v.Failed)
}

// Judge applies the objectives to a level. The verdict of the sweep decides, or
// what counted turns prove together where a level was measured several times.
// Where nothing was counted, as in a report of quantiles, each is compared with
// its threshold, and is undecided where its interval holds that; as failed turns
// are worse than any threshold, a share of errors above what the objective
// leaves fails it too, and so do runs that were left out for their errors, or a
// level that was given up. One that the prober itself spoiled is not judged; of
// several measurements that were counted, those that it did not spoil are.
func Judge(objectives []Objective, l Level) SLOResult {
	switch {
	case l.NotReached != "":
		return SLOResult{NotReached: true}
	case len(objectives) == 0, l.Verdict == nil && Unsound(l) != "", l.Verdict != nil && l.Verdict.Unjudged():
		return SLOResult{Limited: len(objectives) > 0 && l.Limit != ""}
	case l.Verdict != nil:
		return byTurns(objectives, l)
	}
	return byQuantiles(objectives, l)
}

func byTurns(objectives []Objective, l Level) SLOResult {
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

func byQuantiles(objectives []Objective, l Level) SLOResult {
	v := SLOResult{Standing: runfile.Met}
	var proven bool // that one is missed
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

func tooManyErrors(objectives []Objective, l Level) bool {
	if l.Valid < l.Runs {
		return true
	}
	return slices.ContainsFunc(objectives, func(o Objective) bool {
		return l.Value(ErrorPct) > 100-o.Share
	})
}

// Compliance is how far a series scales within the SLOs, also against the
// first series, the baseline.
type Compliance struct {
	Series string
	// Highest compliant level: the one that Proven has, or above it the last
	// before a level that does not pass by what was seen. 0 when there is none.
	Highest float64
	// At is that level's figures.
	At Level
	// Proven has the levels that pass and fail beyond noise, by the rule of a
	// sweep. Where none that was measured fails, the series may scale further.
	Proven runfile.Capacity
	// Least and Most are what the capacity is proven to be at least and at most, of
	// the levels that were measured: 0 when none is proven to pass, +∞ when none is
	// proven to fail.
	Least, Most float64
	// Top says that Highest is the highest level that was reached.
	Top bool
	// Beyond are levels above the first proven failure that pass again: noise, or
	// a deployment that sheds load.
	Beyond []float64
	// Judged says that at least one level could be judged.
	Judged bool
	// ChangePct against the baseline, in percent; meaningless without one.
	ChangePct float64
	// Unmeasured says that the series and the baseline cannot be ranked: the
	// lower of the two was not measured up to where it fails.
	Unmeasured bool
	// Winner is above the baseline, and no other series is higher; several may
	// share that place.
	Winner bool
}

// Comply finds the highest compliant level of each series and ranks them
// against the first. When none is known to be above the baseline there is no
// winner.
func Comply(s *Study) []Compliance {
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

func comply(objectives []Objective, series Series) Compliance {
	c, failed := Compliance{Series: series.Name}, false
	for _, l := range series.Levels {
		v := Judge(objectives, l)
		if c.Proven.Missed == nil && v.Standing != runfile.Missed {
			c.Most = l.At
		}
		if v.NotReached {
			continue
		}
		c.Judged = c.Judged || v.Judged()
		c.Proven.AddLevel(l.At, runfile.LevelVerdict{Standing: v.Standing})
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

// Between is the capacity and where it ends: "80 (100 misses)", "80 or more".
func (c Compliance) Between() string {
	if c.Proven.Missed != nil {
		return fmt.Sprintf("%g (%g misses)", c.Highest, *c.Proven.Missed)
	}
	return fmt.Sprintf("%g or more", c.Highest)
}

// below reports whether o is known to scale further: c fails, beyond noise, at a
// level up to the one that o meets, beyond noise. Of a series that passes wherever
// it was measured, as in a sweep that was stopped, that is not known.
func (c Compliance) provenBelow(o Compliance) bool {
	missed, met := c.Proven.Missed, o.Proven.Level
	return c.Highest < o.Highest && missed != nil && met != nil && *missed <= *met
}
