//go:build linux

package main

import (
	"math"
	"slices"
)

// line is a robust straight line through points. Up to half of them may be outliers.
type line struct {
	// Slope is the median slope of all pairs of points (Theil and Sen).
	Slope float64
	// Noise is the standard deviation around the line, estimated from the median deviation.
	Noise float64
	// Span is the distance between the first and the last x.
	Span float64
	N    int
}

// maxPoints bounds the work. Larger sets are thinned out evenly.
const maxPoints = 1500

// fit fits a line to points in the order of x.
func fit(x, y []float64) line {
	if step := len(x)/maxPoints + 1; step > 1 {
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
	residuals := make([]float64, l.N)
	for i := range x {
		residuals[i] = y[i] - l.Slope*x[i]
	}
	middle := median(residuals)
	for i := range residuals {
		residuals[i] = math.Abs(residuals[i] - middle)
	}
	l.Noise = 1.4826 * median(residuals)
	return l
}

// dependent is how many neighbouring samples carry as much information as one independent
// sample: a garbage collection or a fault affects several.
const dependent = 5

// growth returns the gain of the line from end to end, and the gain that chance can
// explain: four standard errors of the slope.
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

// median returns 0 without values.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile returns 0 without values.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
