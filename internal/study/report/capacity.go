package report

import (
	"strings"

	"synthetic/internal/study/runs"
)

// capacity is how far a series scales within its objectives.
type capacity struct {
	Variant string
	// Meets is the highest level that meets every objective, Fails the lowest one that misses one; nil without one.
	Meets, Fails *Level
	// Undecided and NotJudged levels lie between both. NotJudged ones did not carry their load (see
	// Run.NotReached), or the prober was their limit.
	Undecided, NotJudged []float64
	Unsettled            bool      // chance could turn the verdict on Meets or Fails
	Beyond               []float64 // levels above Fails that pass again
}

// capacityOf returns the capacity of a series: the highest level that passes below the lowest level that fails. If proven is
// true, as for the gate, chance may leave levels undecided. Otherwise the measured percentiles decide every level.
func capacityOf(s *Study, series Series, proven bool) capacity {
	c := capacity{Variant: series.Name}
	for i, l := range series.Levels {
		v := Judge(s.Objectives, l)
		undecided := v.Standing == runs.Undecided
		if undecided && !proven {
			v.Standing = map[bool]runs.Standing{true: runs.Met, false: runs.Missed}[v.Met]
		}
		switch {
		case c.Fails != nil:
			if v.Standing == runs.Met {
				c.Beyond = append(c.Beyond, l.At)
			}
		case v.Unjudged():
			c.NotJudged = append(c.NotJudged, l.At)
		case v.Standing == runs.Met:
			c.Meets, c.Undecided, c.NotJudged, c.Unsettled = &series.Levels[i], nil, nil, undecided
		case v.Standing == runs.Undecided:
			c.Undecided = append(c.Undecided, l.At)
		case v.Standing == runs.Missed:
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

// Judged reports whether a level could be judged.
func (c capacity) Judged() bool { return c.Meets != nil || c.Fails != nil || c.Undecided != nil }

// Least returns the lower bound of the capacity: the level that meets the objectives, or 0 without one.
func (c capacity) Least() float64 {
	if c.Meets == nil {
		return 0
	}
	return c.Meets.At
}

// Most returns the highest judged level below the level that fails. If none fails, it returns the highest judged level of
// all; 0 if no level was judged.
func (c capacity) Most() float64 {
	if n := len(c.Undecided); n > 0 {
		return c.Undecided[n-1]
	}
	return c.Least()
}

// Sentence returns the capacity and its bounds in words: "concurrency 80 (concurrency 100 fails)", "at least
// concurrency 80", "below concurrency 40", "not proven (concurrency 40 and 60 undecided)".
func (c capacity) Sentence(kind runs.LevelKind) string {
	var notes []string
	if len(c.Undecided) > 0 {
		notes = append(notes, kind.At(c.Undecided...)+" undecided")
	}
	if len(c.NotJudged) > 0 {
		notes = append(notes, kind.At(c.NotJudged...)+" not judged")
	}
	if c.Fails != nil {
		notes = append(notes, kind.At(c.Fails.At)+" fails")
	}
	text := kind.At(c.Least())
	switch {
	case !c.Judged():
		return "not known"
	case c.Meets == nil && c.Undecided == nil:
		return "below " + kind.At(c.Fails.At)
	case c.Meets == nil:
		text = "not proven"
	case c.Fails == nil && c.Undecided == nil:
		text = "at least " + text
	}
	if notes == nil {
		return text
	}
	return text + " (" + strings.Join(notes, ", ") + ")"
}

// unknown names the levels above the capacity that were not judged.
func (c capacity) unknown() string {
	if !c.Judged() || c.NotJudged == nil {
		return ""
	}
	return " (" + runs.FormatLevels(c.NotJudged, ", ") + " not judged)"
}
