package report

import (
	"math"

	"synthetic/internal/study/figures"
)

// delta is the difference of a figure from the baseline's.
type delta struct {
	Metric figures.Metric
	Known  bool
	// Ratio is value / baseline. Low and High are the ends of its 95 % interval, NaN if
	// unknown.
	Ratio, Low, High float64
	Effect           string // "better", "worse", or "" if neither
	Noise            bool   // the intervals do not separate the two figures
	// Survivors is set if a latency is better while more turns failed. The remaining turns then
	// had more of the deployment to themselves.
	Survivors bool
}

// compareFigures compares a figure of a level with the baseline's level. If one of them is only known
// as printed, both are rounded as printed.
func compareFigures(m figures.Metric, base, other figures.Level) delta {
	a, b := base.Figure(m), other.Figure(m)
	if !a.Known() || !b.Known() || a.Value == 0 || math.IsInf(a.Value, 0) || math.IsInf(b.Value, 0) {
		return delta{Metric: m}
	}
	step := max(a.Step, b.Step)
	d := delta{Metric: m, Known: true, Ratio: asPrinted(b.Value, step) / asPrinted(a.Value, step), Noise: withinNoise(a, b)}
	d.Low, d.High = ratioInterval(a, b)
	switch {
	case m.Better() == figures.Neither || d.Ratio == 1:
	case (d.Ratio < 1) == (m.Better() == figures.LowerIsBetter):
		d.Effect = "better"
		d.Survivors = other.Value(figures.ErrorPct)-base.Value(figures.ErrorPct) > 1 && m.Unit() == "ms"
	default:
		d.Effect = "worse"
	}
	return d
}

// asPrinted rounds as the other programs print: half to even.
func asPrinted(v, step float64) float64 {
	if step == 0 {
		return v
	}
	return math.RoundToEven(v/step) * step
}

// withinNoise reports whether the interval of the ratio contains 1. If only one figure has an
// interval, it reports whether that contains the other value. Without intervals nothing counts
// as noise.
func withinNoise(a, b figures.Figure) bool {
	switch {
	case a.Uncertain() || b.Uncertain():
		return true
	case a.Ranged() && !b.Ranged():
		return a.Low <= b.Value && b.Value <= a.High
	case b.Ranged() && !a.Ranged():
		return b.Low <= a.Value && a.Value <= b.High
	}
	low, high := ratioInterval(a, b)
	if math.IsNaN(low) {
		return a.Ranged() && b.Ranged() && a.Low <= b.High && b.Low <= a.High
	}
	return low <= 1 && 1 <= high
}

// ratioInterval returns the 95 % interval of b / a, from the difference of the logarithms and
// the intervals of both (Zou and Donner, "Construction of confidence limits about effect
// measures", Statistics in Medicine 2008). It returns NaN if one interval is unknown or
// includes 0.
func ratioInterval(a, b figures.Figure) (low, high float64) {
	if !a.Ranged() || !b.Ranged() || a.Low <= 0 || b.Low <= 0 {
		return math.NaN(), math.NaN()
	}
	d := math.Log(b.Value / a.Value)
	down := math.Hypot(math.Log(b.Value/b.Low), math.Log(a.High/a.Value))
	up := math.Hypot(math.Log(b.High/b.Value), math.Log(a.Value/a.Low))
	return math.Exp(d - down), math.Exp(d + up)
}

// large reports whether the change reads better as a factor.
func (d delta) large() bool { return d.Known && (d.Ratio >= largeRatio || d.Ratio <= 1.0/largeRatio) }

// String returns "+48% worse", "-10% better", "×32 worse" or "n/a".
func (d delta) String() string {
	if !d.Known {
		return "n/a"
	}
	text := formatChange(d.Ratio, 0)
	if text == "0%" {
		return text
	}
	if d.Effect != "" {
		text += " " + d.Effect
	}
	return text + d.caveat()
}

// caveat returns " (survivors)" or " (noise)" if the change must not be trusted, otherwise "".
func (d delta) caveat() string {
	switch {
	case d.Survivors:
		return " (survivors)"
	case d.Noise:
		return " (noise)"
	}
	return ""
}

// improvement returns by how many percent a figure is better than the baseline's: negative if
// it is worse, NaN if unknown.
func (d delta) improvement() float64 {
	percent := 100 * (d.Ratio - 1)
	switch {
	case !d.Known:
		return math.NaN()
	case d.Metric.Better() == figures.HigherIsBetter:
		return percent
	}
	return -percent
}
