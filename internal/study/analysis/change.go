package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"synthetic/internal/study/figures"
)

// Change is how a figure of one series differs from the baseline's.
type Change struct {
	Known bool
	// Ratio is value / baseline.
	Ratio float64
	// Verdict is "better", "worse", or "" when neither.
	Verdict string
	// Noise says that the intervals of the two do not tell them apart.
	Noise bool
	// Survivors says that it is better while more turns failed: those that
	// were left had more of the deployment to themselves.
	Survivors bool
}

// large is the ratio from which a factor reads better than a percentage.
const large = 5

// Between compares a figure of a level with that of the baseline's level. When
// one is only known as printed, both are taken as printed.
func Between(m figures.Metric, base, other figures.Level) Change {
	a, b := base.Figure(m.Key), other.Figure(m.Key)
	if !a.Known() || !b.Known() || a.Value == 0 || math.IsInf(a.Value, 0) || math.IsInf(b.Value, 0) {
		return Change{}
	}
	step := max(a.Step, b.Step)
	c := Change{Known: true, Ratio: asPrinted(b.Value, step) / asPrinted(a.Value, step)}
	c.Verdict = verdict(m, c.Ratio)
	c.Noise = withinNoise(a, b)
	more := other.Value("error_pct") - base.Value("error_pct")
	c.Survivors = c.Verdict == "better" && more > 1 && m.Unit == "ms"
	return c
}

// asPrinted rounds as printing does, halves to even.
func asPrinted(v, step float64) float64 {
	if step == 0 {
		return v
	}
	return math.RoundToEven(v/step) * step
}

func verdict(m figures.Metric, ratio float64) string {
	switch {
	case m.Better == figures.Neither || ratio == 1:
		return ""
	case (ratio < 1) == (m.Better == figures.LowerIsBetter):
		return "better"
	}
	return "worse"
}

// withinNoise tells whether a difference of 0 lies in the 95 % interval of the
// difference of logarithms, recovered from the intervals of the two figures
// (Zou and Donner, "Construction of confidence limits about effect measures",
// Statistics in Medicine 2008). Without intervals nothing is called noise.
func withinNoise(a, b figures.Figure) bool {
	if a.Uncertain() || b.Uncertain() {
		return true
	}
	if !a.Ranged() || !b.Ranged() || a.Low <= 0 || b.Low <= 0 {
		return a.Ranged() && b.Ranged() && a.Low <= b.High && b.Low <= a.High
	}
	d := math.Log(b.Value / a.Value)
	down := math.Hypot(math.Log(b.Value/b.Low), math.Log(a.High/a.Value))
	up := math.Hypot(math.Log(b.High/b.Value), math.Log(a.Value/a.Low))
	return d-down <= 0 && 0 <= d+up
}

// Percent is the change in percent, with its sign.
func (c Change) Percent() float64 { return 100 * (c.Ratio - 1) }

// Large reports whether the change is better told as a factor.
func (c Change) Large() bool { return c.Known && (c.Ratio >= large || c.Ratio <= 1.0/large) }

// String is "+48% worse", "-10% better", "×32 worse", "n/a".
func (c Change) String() string {
	if !c.Known {
		return "n/a"
	}
	text := signed(c.Percent(), 0) + "%"
	switch {
	case c.Ratio >= large:
		text = fmt.Sprintf("×%.0f", c.Ratio)
	case c.Ratio <= 1.0/large:
		text = fmt.Sprintf("÷%.0f", 1/c.Ratio)
	}
	if c.Verdict != "" {
		text += " " + c.Verdict
	}
	switch {
	case c.Survivors:
		text += " (survivors)"
	case c.Noise:
		text += " (noise)"
	}
	return text
}

func signed(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	switch {
	case strings.Trim(text, "-0.") == "":
		return strings.TrimPrefix(text, "-")
	case v > 0:
		return "+" + text
	}
	return text
}

// Improvement is by how many percent a figure is better than the baseline's,
// negative when it is worse; NaN when unknown.
func Improvement(m figures.Metric, base, other figures.Level) float64 {
	c := Between(m, base, other)
	switch {
	case !c.Known:
		return math.NaN()
	case m.Better == figures.HigherIsBetter:
		return c.Percent()
	}
	return -c.Percent()
}
