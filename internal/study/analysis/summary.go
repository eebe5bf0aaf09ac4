package analysis

import (
	"math"

	"synthetic/internal/study/figures"
)

// Summary describes a figure over all levels of a series.
type Summary struct {
	Known bool
	// First and Last are the lowest and the highest level with a value.
	First, Last Point
	// Least and Most are the extremes, Mean the average over levels.
	Least, Most Point
	Mean        float64
	// Against counts the steps from one level to the next that go against the
	// way from First to Last.
	Against int
	// Levels with a value.
	Levels int
}

// Summarize describes a value per level; NaN is left out.
func Summarize(levels []figures.Level, of func(figures.Level) float64) Summary {
	var s Summary
	var path []float64
	for _, l := range levels {
		v := of(l)
		if math.IsNaN(v) {
			continue
		}
		p := Point{l.At, v, true}
		if !s.Known {
			s.First, s.Least, s.Most, s.Known = p, p, p, true
		}
		if v < s.Least.Value {
			s.Least = p
		}
		if v > s.Most.Value {
			s.Most = p
		}
		s.Last = p
		path = append(path, v)
	}
	s.Levels = len(path)
	for i, v := range path {
		s.Mean += v / float64(len(path))
		if i > 0 && (v-path[i-1])*(s.Last.Value-s.First.Value) < 0 {
			s.Against++
		}
	}
	return s
}

// Trend is "rises", "falls" or "is flat": the way from the lowest to the
// highest level, when it is at least a tenth of the largest value.
func (s Summary) Trend() string {
	way := s.Last.Value - s.First.Value
	if math.Abs(way) < 0.1*max(math.Abs(s.Least.Value), math.Abs(s.Most.Value)) {
		return "is flat"
	}
	if way > 0 {
		return "rises"
	}
	return "falls"
}
