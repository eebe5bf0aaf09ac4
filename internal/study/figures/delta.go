package figures

import (
	"math"
)

// Delta is how a figure of one series differs from the baseline's.
type Delta struct {
	Metric Metric
	Known  bool
	// Ratio is value / baseline; Low and High are the ends of its 95 % interval, NaN
	// without one.
	Ratio, Low, High float64
	// Effect is "better", "worse", or "" when neither.
	Effect string
	// Noise says that the intervals of the two do not tell them apart.
	Noise bool
	// Survivors says that it is better while more turns failed: those that
	// were left had more of the deployment to themselves.
	Survivors bool
}

// Between compares a figure of a level with that of the baseline's level. When
// one is only known as printed, both are taken as printed.
func Between(m Metric, base, other Level) Delta {
	a, b := base.Figure(m), other.Figure(m)
	if !a.Known() || !b.Known() || a.Value == 0 || math.IsInf(a.Value, 0) || math.IsInf(b.Value, 0) {
		return Delta{Metric: m}
	}
	step := max(a.Step, b.Step)
	d := Delta{Metric: m, Known: true, Ratio: asPrinted(b.Value, step) / asPrinted(a.Value, step), Noise: withinNoise(a, b)}
	d.Low, d.High = RatioInterval(a, b)
	switch {
	case m.Better() == Neither || d.Ratio == 1:
	case (d.Ratio < 1) == (m.Better() == LowerIsBetter):
		d.Effect = "better"
		d.Survivors = other.Value(ErrorPct)-base.Value(ErrorPct) > 1 && m.Unit() == "ms"
	default:
		d.Effect = "worse"
	}
	return d
}

// asPrinted rounds as printing does, halves to even.
func asPrinted(v, step float64) float64 {
	if step == 0 {
		return v
	}
	return math.RoundToEven(v/step) * step
}

// withinNoise tells whether a ratio of 1 lies in the interval of the ratio or, where
// one of the two has no interval, whether it lies in that of the other. Without any
// nothing is called noise.
func withinNoise(a, b Figure) bool {
	switch {
	case a.Uncertain() || b.Uncertain():
		return true
	case a.Ranged() && !b.Ranged():
		return a.Low <= b.Value && b.Value <= a.High
	case b.Ranged() && !a.Ranged():
		return b.Low <= a.Value && a.Value <= b.High
	}
	low, high := RatioInterval(a, b)
	if math.IsNaN(low) {
		return a.Ranged() && b.Ranged() && a.Low <= b.High && b.Low <= a.High
	}
	return low <= 1 && 1 <= high
}

// RatioInterval is the 95 % interval of b / a, by that of the difference of their
// logarithms, recovered from the intervals of the two figures (Zou and Donner,
// "Construction of confidence limits about effect measures", Statistics in
// Medicine 2008); NaN where one has none, or reaches down to 0.
func RatioInterval(a, b Figure) (low, high float64) {
	if !a.Ranged() || !b.Ranged() || a.Low <= 0 || b.Low <= 0 {
		return math.NaN(), math.NaN()
	}
	d := math.Log(b.Value / a.Value)
	down := math.Hypot(math.Log(b.Value/b.Low), math.Log(a.High/a.Value))
	up := math.Hypot(math.Log(b.High/b.Value), math.Log(a.Value/a.Low))
	return math.Exp(d - down), math.Exp(d + up)
}

// Percent is the change in percent, with its sign.
func (d Delta) Percent() float64 { return 100 * (d.Ratio - 1) }

// Large reports whether the change is better told as a factor.
func (d Delta) Large() bool { return d.Known && (d.Ratio >= largeRatio || d.Ratio <= 1.0/largeRatio) }

// String is "+48% worse", "-10% better", "×32 worse", "n/a".
func (d Delta) String() string {
	if !d.Known {
		return "n/a"
	}
	text := Change(d.Ratio, 0)
	if d.Effect != "" {
		text += " " + d.Effect
	}
	return text + d.Caveat()
}

// Caveat is what keeps a change from being taken for one, " (noise)", or "".
func (d Delta) Caveat() string {
	switch {
	case d.Survivors:
		return " (survivors)"
	case d.Noise:
		return " (noise)"
	}
	return ""
}

// Improvement is by how many percent a figure is better than the baseline's,
// negative when it is worse; NaN when unknown.
func (d Delta) Improvement() float64 {
	switch {
	case !d.Known:
		return math.NaN()
	case d.Metric.Better() == HigherIsBetter:
		return d.Percent()
	}
	return -d.Percent()
}

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
func Summarize(levels []Level, of func(Level) float64) Summary {
	var s Summary
	var path []float64
	for _, l := range levels {
		v := of(l)
		if math.IsNaN(v) {
			continue
		}
		p := Point{l.At, v, true}
		if !s.Known || v < s.Least.Value {
			s.Least = p
		}
		if !s.Known || v > s.Most.Value {
			s.Most = p
		}
		if !s.Known {
			s.First = p
		}
		s.Last, s.Known = p, true
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
