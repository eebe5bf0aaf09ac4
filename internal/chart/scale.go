package chart

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Axis says what an axis shows.
type Axis struct {
	Label string
	// Unit of the values: "ms" and "s" are written as durations, "%" behind the
	// number, "time" (seconds since 1970) as the time of day in UTC; any other
	// belongs into the Label.
	Unit string
	// Log gives every ratio the same length where values are positive and far
	// apart; what is to be compared by its height keeps its 0.
	Log bool
	// Ticks are the values to be labelled, in rising order; the axis is as long
	// as they are. Without them they are round values.
	Ticks []Tick
}

// Tick is a labelled value of an axis.
type Tick struct {
	Value float64
	Label string
}

const (
	// wideRatio is the ratio of values from which a logarithmic axis reads better.
	wideRatio = 30
	// ticksFit are the most ticks of an axis.
	ticksFit = 7
	// rounding is what a quotient of round values may be off.
	rounding = 1e-9
)

// Scale places values on an axis.
type Scale struct {
	Low, High float64
	Log       bool
}

// LogScale spans the positive ones of some values between two round ones.
func LogScale(values ...float64) Scale {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	if high == 0 {
		low, high = 0.1, 1
	}
	from, to := below(low), above(high)
	return Scale{round(from), round(max(to, from+1)), true}
}

// At is a value's place, from 0 at the low end to 1 at the high one. What is
// beyond an end is at it: the ends of intervals may be 0 or ∞.
func (s Scale) At(v float64) float64 {
	v = min(max(v, s.Low), s.High)
	if s.Log {
		return math.Log(v/s.Low) / math.Log(s.High/s.Low)
	}
	return (v - s.Low) / (s.High - s.Low)
}

// Ticks are round values, only powers of ten if a logarithmic scale is long.
func (s Scale) Ticks() []float64 {
	var all []float64
	if !s.Log {
		step := s.step()
		for i := math.Ceil(s.Low/step - rounding); i <= s.High/step+rounding; i++ {
			all = append(all, i*step)
		}
		return all
	}
	from, to := below(s.Low), below(s.High)
	for k := from; k <= to; k++ {
		if to-from < ticksFit || k%3 == 0 {
			all = append(all, round(k))
		}
	}
	return all
}

// step is the distance between the ticks of a linear scale.
func (s Scale) step() float64 { return round(above((s.High - s.Low) / (ticksFit - 1))) }

// round counts the values …, 0.5, 1, 2, 5, 10, …; that of 0 is 1.
func round(k int) float64 {
	decade := math.Floor(float64(k) / 3)
	return []float64{1, 2, 5}[k-3*int(decade)] * math.Pow(10, decade)
}

// below is the number of the largest round value up to v.
func below(v float64) int {
	k := 3 * int(math.Floor(math.Log10(v)))
	for round(k+1) <= v*(1+rounding) {
		k++
	}
	return k
}

// above is the number of the smallest round value from v on.
func above(v float64) int {
	k := below(v)
	if round(k) < v*(1-rounding) {
		k++
	}
	return k
}

// scale is the axis for values between two ends.
func (a Axis) scale(of Scale) Scale {
	n := len(a.Ticks)
	if n > 0 {
		of = Scale{Low: a.Ticks[0].Value, High: a.Ticks[n-1].Value}
	}
	of.Log = a.Log && of.Low > 0 && of.High > of.Low*wideRatio
	switch {
	case a.Unit == Time && of.High >= of.Low:
		return Scale{of.Low, max(of.High, of.Low+60), false}
	case of.Log && n == 0:
		return LogScale(of.Low, of.High)
	case of.Log:
		return of
	case n > 0: // and half a step beyond them
		edge := cmp.Or((of.High-of.Low)/float64(2*max(n-1, 1)), 0.5)
		return Scale{of.Low - edge, of.High + edge, false}
	}
	of = Scale{Low: min(0, of.Low), High: max(0, of.High)}
	if of.Low == of.High {
		of.High++
	}
	step := of.step()
	return Scale{step * math.Floor(of.Low/step+rounding), step * math.Ceil(of.High/step-rounding), false}
}

// ticks are the axis' own, or those of its scale.
func (a Axis) ticks(s Scale) []Tick {
	if len(a.Ticks) > 0 {
		return a.Ticks
	}
	values := s.Ticks()
	if a.Unit == Time {
		values = s.timeTicks()
	}
	for _, v := range values {
		a.Ticks = append(a.Ticks, Tick{v, Label(v, a.Unit)})
	}
	return a.Ticks
}

// Time is the unit of an axis of time.
const Time = "time"

// timeTicks are the round times of a scale of seconds since 1970.
func (s Scale) timeTicks() (all []float64) {
	step := 24 * 3600.0
	for _, minutes := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720} {
		if s.High-s.Low <= minutes*60*ticksFit {
			step = minutes * 60
			break
		}
	}
	for at := step * math.Ceil(s.Low/step); at <= s.High; at += step {
		all = append(all, at)
	}
	return all
}

// place writes a value of X as texts have it.
func (a Axis) place(v float64) string {
	if a.Unit == Time {
		return Label(v, Time)
	}
	return fmt.Sprintf("%g", v)
}

// Label writes a value short: "200 ms", "1.5 s", "50%", "2k", "15:04".
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

// number writes up to six digits; adding 0 makes −0 a 0.
func number(v float64) string { return strconv.FormatFloat(v+0, 'g', 6, 64) }
