//go:build linux

package main

import (
	"math"
	"slices"
)

// line is a robust straight line through points: half of them may be wild.
type line struct {
	// Slope is the median of the slopes between all pairs (Theil and Sen).
	Slope float64
	// Noise is the standard deviation around it, from the median deviation.
	Noise float64
	// Span is from the first x to the last.
	Span float64
	N    int
}

// mostPoints bounds the work: of more points an even part is taken.
const mostPoints = 1500

// fit lays a line through points in the order of x.
func fit(x, y []float64) line {
	if step := len(x)/mostPoints + 1; step > 1 {
		x, y = every(step, x), every(step, y)
	}
	l := line{N: len(x)}
	if l.N < 2 {
		return l
	}
	l.Span = x[l.N-1] - x[0]
	var slopes []float64
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			if x[j] > x[i] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	l.Slope = median(slopes)
	rest := make([]float64, l.N)
	for i := range x {
		rest[i] = y[i] - l.Slope*x[i]
	}
	middle := median(rest)
	for i := range rest {
		rest[i] = math.Abs(rest[i] - middle)
	}
	l.Noise = 1.4826 * median(rest)
	return l
}

// dependent is how many neighbouring samples say what one independent one would:
// a collection of garbage, or a part with faults, marks several.
const dependent = 5

// growth is what the line gains from end to end, and what it may by chance: four
// standard errors of the slope.
func (l line) growth() (gained, chance float64) {
	n := float64(max(1, l.N/dependent))
	return l.Slope * l.Span, 4 * l.Noise * math.Sqrt(12/n)
}

func every(step int, v []float64) (out []float64) {
	for i := 0; i < len(v); i += step {
		out = append(out, v[i])
	}
	return out
}

// median of values; 0 without any.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile is the value of a rank; 0 without any.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
