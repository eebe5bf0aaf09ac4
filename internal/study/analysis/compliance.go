// Package analysis draws conclusions from studies: which levels meet the SLOs,
// where a configuration saturates, how two differ and which one wins. Every
// conclusion is computed from figures; nothing is rounded before it is drawn,
// unless a figure is only known as printed.
package analysis

import (
	"slices"
	"strings"

	"synthetic/internal/study/figures"
)

// SLOResult is what the SLOs say of one level of one series.
type SLOResult struct {
	// Judged says that every objective could be judged.
	Judged bool
	// Failed are the labels of the objectives that were missed; ERRORS where
	// errors alone break one, GIVEN UP where the sweep gave the level up before one
	// was missed.
	Failed []string
	// Unsure says that for some objective both outcomes lie within the 95 %
	// interval.
	Unsure bool
}

// Pass reports whether every objective was judged and met.
func (v SLOResult) Pass() bool { return v.Judged && len(v.Failed) == 0 }

// String is the cell of the compliance matrix.
func (v SLOResult) String() string {
	switch {
	case len(v.Failed) > 0:
		return "FAIL (" + strings.Join(v.Failed, "+") + ")"
	case !v.Judged:
		return "n/a"
	}
	return "PASS"
}

// Judge applies the objectives to a level. Good and bad turns decide where
// they were counted; otherwise the quantile does, and as failed turns are
// worse than any threshold, a share of errors above what the objective leaves
// fails it too. A level of which runs were left out for their errors fails, and
// so does one that the sweep gave up. One that the prober itself spoiled is not
// judged.
func Judge(objectives []figures.Objective, l figures.Level) SLOResult {
	if l.Spoiled {
		return SLOResult{}
	}
	v := SLOResult{Judged: len(objectives) > 0}
	for _, o := range objectives {
		met, known, unsure := judge(o, l)
		v.Judged = v.Judged && known
		v.Unsure = v.Unsure || unsure
		if (known && !met || slices.Contains(l.Lost, o.Name)) && !slices.Contains(v.Failed, o.Label) {
			v.Failed = append(v.Failed, o.Label)
		}
	}
	switch {
	case len(v.Failed) > 0:
	case len(objectives) > 0 && tooManyErrors(objectives, l):
		v.Failed = []string{"ERRORS"}
	case l.GivenUp:
		v.Failed = []string{"GIVEN UP"}
	}
	return v
}

func judge(o figures.Objective, l figures.Level) (met, known, unsure bool) {
	if share, ok := l.Judged[o.Name]; ok && share.Known() && share.N > 0 {
		unsure = share.Ranged() && share.Low < o.Share && o.Share <= share.High
		return share.Value >= o.Share, true, unsure
	}
	f := l.Figure(o.Metric())
	if !f.Known() {
		return false, false, false
	}
	unsure = f.Ranged() && f.Low <= o.Threshold && o.Threshold < f.High
	return f.Value <= o.Threshold, true, unsure
}

func tooManyErrors(objectives []figures.Objective, l figures.Level) bool {
	if l.Valid < l.Runs {
		return true
	}
	return slices.ContainsFunc(objectives, func(o figures.Objective) bool {
		_, counted := l.Judged[o.Name]
		return !counted && l.Value(figures.ErrorPct) > 100-o.Share
	})
}

// Compliance is how far a series scales within the SLOs, also against the
// first series, the baseline.
type Compliance struct {
	Series string
	// Highest compliant level: it and every level below it pass. 0 when the
	// lowest one fails already.
	Highest float64
	// At is that level's figures.
	At figures.Level
	// Missed is the lowest level that fails; 0 when none that was measured does,
	// so that the series may scale further.
	Missed float64
	// Beyond are levels above the first failure that pass again: noise, or a
	// deployment that sheds load.
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
func Comply(s *figures.Study) []Compliance {
	var all []Compliance
	best := 0.0
	for i, series := range s.Series {
		all = append(all, comply(s.Objectives, series))
		c, base := &all[i], all[0]
		c.ChangePct = 100 * (c.Highest/base.Highest - 1)
		c.Unmeasured = c.Highest != base.Highest && !c.below(base) && !base.below(*c)
		if i > 0 {
			best = max(best, c.Highest)
		}
	}
	for i := range all {
		all[i].Winner = i > 0 && all[i].Highest == best && all[0].below(all[i])
	}
	return all
}

func comply(objectives []figures.Objective, series figures.Series) Compliance {
	c, failed := Compliance{Series: series.Name}, false
	for _, l := range series.Levels {
		v := Judge(objectives, l)
		c.Judged = c.Judged || v.Judged || len(v.Failed) > 0
		if c.Missed == 0 && len(v.Failed) > 0 {
			c.Missed = l.At
		}
		switch {
		case !v.Pass():
			failed = true
		case failed:
			c.Beyond = append(c.Beyond, l.At)
		default:
			c.Highest, c.At = l.At, l
		}
	}
	return c
}

// below reports whether o is known to scale further: c fails at a level up to
// the one that o meets. Of a series that passes wherever it was measured, as in
// a sweep that was stopped, that is not known.
func (c Compliance) below(o Compliance) bool {
	return c.Highest < o.Highest && c.Missed > 0 && c.Missed <= o.Highest
}
