package sketch

import "math"

// GeometricMean is the exponential of the mean logarithm, with a relative error
// of at most Error; NaN when empty. Values that count as 0 enter as Smallest.
func (s *Sketch) GeometricMean() float64 {
	if s.count == 0 {
		return math.NaN()
	}
	low, high := math.Log(max(s.min, Smallest)), math.Log(max(s.max, Smallest))
	sum, n := float64(s.zero)*math.Log(Smallest), s.zero
	for _, b := range s.bins {
		// The middle of the bin on the log scale, but never beyond the extremes.
		sum += float64(b.count) * min(max((float64(b.index)-0.5)*logGamma, low), high)
		n += uint64(b.count)
	}
	return math.Exp(sum / float64(n))
}
