package chart

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"
)

type Axis struct {
	Label string `json:"label,omitempty"`
	// Unit is "ms", "s", "%" or Time. Values in ms and s are formatted as durations, Time (Unix
	// seconds) as the time of day in UTC. Another unit belongs in Label.
	Unit string `json:"unit,omitempty"`
	// Ticks are the labelled values, ascending. They also set the ends of the axis. The default is
	// round values.
	Ticks []Tick `json:"-"`
}

type Tick struct {
	Value float64
	Label string
}

const (
	maxTicks = 7
	// rounding is the tolerance for quotients of round values.
	rounding = 1e-9
)

// scale maps values to positions on an axis.
type scale struct{ Low, High float64 }

// position returns 0 for Low, 1 for High. Values beyond the ends count as the ends, because an
// interval can reach to 0 or ∞.
func (s scale) position(v float64) float64 {
	v = min(max(v, s.Low), s.High)
	return (v - s.Low) / (s.High - s.Low)
}

// ticks returns round values.
func (s scale) ticks() (all []float64) {
	step := s.step()
	for i := math.Ceil(s.Low/step - rounding); i <= s.High/step+rounding; i++ {
		all = append(all, i*step)
	}
	return all
}

func (s scale) step() float64 { return roundAbove((s.High - s.Low) / (maxTicks - 1)) }

// roundAbove returns the smallest of the round values ..., 0.5, 1, 2, 5, 10, ... that is at least v.
func roundAbove(v float64) float64 {
	decade := math.Floor(math.Log10(v))
	for _, digit := range []float64{1, 2, 5} {
		if value := digit * math.Pow(10, decade); value >= v*(1-rounding) {
			return value
		}
	}
	return math.Pow(10, decade+1)
}

// scale returns the scale of an axis that has to show the given range.
func (a Axis) scale(values scale) scale {
	n := len(a.Ticks)
	if n > 0 {
		values = scale{Low: a.Ticks[0].Value, High: a.Ticks[n-1].Value}
	}
	values.Low, values.High = drawable(values.Low), drawable(values.High)
	switch {
	case a.Unit == Time && values.High >= values.Low:
		return scale{values.Low, max(values.High, values.Low+60)}
	case n > 0: // the axis extends half a step beyond the outer ticks
		edge := cmp.Or((values.High-values.Low)/float64(2*max(n-1, 1)), math.Abs(values.Low)/2, 0.5)
		return scale{values.Low - edge, values.High + edge}
	}
	values = scale{Low: min(0, values.Low), High: max(0, values.High)}
	if values.Low == values.High {
		values.High++
	}
	step := values.step()
	return scale{step * math.Floor(values.Low/step+rounding), step * math.Ceil(values.High/step-rounding)}
}

// drawable limits the end of an axis to values whose ratios and round values are floats, too. A smaller
// value counts as 0.
func drawable(v float64) float64 {
	const largest = 1e100
	if math.Abs(v) < 1/largest {
		return 0
	}
	return min(max(v, -largest), largest)
}

// ticks returns the axis' own ticks, or else round values.
func (a Axis) ticks(s scale) []Tick {
	if len(a.Ticks) > 0 {
		return a.Ticks
	}
	values := s.ticks()
	if a.Unit == Time {
		values = s.timeTicks()
	}
	for _, v := range values {
		a.Ticks = append(a.Ticks, Tick{v, Label(v, a.Unit)})
	}
	return a.Ticks
}

// Time is the unit of a time axis, in Unix seconds.
const Time = "time"

func (s scale) timeTicks() (all []float64) {
	step := 24 * 3600.0
	for _, minutes := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720} {
		if s.High-s.Low <= minutes*60*maxTicks {
			step = minutes * 60
			break
		}
	}
	for at := step * math.Ceil(s.Low/step); at <= s.High; at += step {
		all = append(all, at)
	}
	return all
}

func (a Axis) format(v float64) string {
	if a.Unit == Time {
		return Label(v, Time)
	}
	return fmt.Sprintf("%g", v)
}

// Rounded returns a positive value with three significant digits, and 0 for others.
func Rounded(v float64) float64 {
	if v <= 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}

// Label formats a value, for example "200 ms", "1.5 s", "50%", "2k" or "15:04".
func Label(v float64, unit string) string {
	size := math.Abs(v)
	switch {
	case unit == "ms":
		return Label(v/1e3, "s")
	case unit == "s" && size > 0 && size < 1e-3:
		return number(v*1e6) + " µs"
	case unit == "s" && size > 0 && size < 1:
		return number(v*1e3) + " ms"
	case unit == "s":
		return number(v) + " s"
	case unit == Time:
		return time.Unix(int64(v), 0).UTC().Format("15:04")
	case unit == "%":
		return number(v) + "%"
	case size >= 1e6:
		return number(v/1e6) + "M"
	case size >= 1e3:
		return number(v/1e3) + "k"
	}
	return number(v)
}

// number writes up to six digits. Adding 0 turns -0 into 0.
func number(v float64) string { return strconv.FormatFloat(v+0, 'g', 6, 64) }
