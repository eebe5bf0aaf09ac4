package sketch

import "math"

// Rank is how many values lie at or below v, counting the share of v's own bin
// that lies below it as if its values were spread evenly. It serves interval
// estimates, where a step at every bin would look like certainty.
func (s *Sketch) Rank(v float64) float64 {
	switch {
	case s.count == 0 || v < s.min || math.IsNaN(v):
		return 0
	case v >= s.max:
		return float64(s.count)
	}
	rank := float64(s.zero)
	for _, b := range s.bins {
		low, high := s.span(b.index)
		if v < high {
			if v > low {
				rank += float64(b.count) * (v - low) / (high - low)
			}
			break
		}
		rank += float64(b.count)
	}
	return rank
}

// At is the inverse of Rank: the value that has rank values at or below it. A
// rank below 0 gives the smallest value, one above the count the largest; it
// is NaN when the sketch is empty. Within a bin it may be off by the bin's
// width, 2 × Error; Quantile keeps to Error.
func (s *Sketch) At(rank float64) float64 {
	switch {
	case s.count == 0 || math.IsNaN(rank):
		return math.NaN()
	case rank <= 0:
		return s.min
	case rank <= float64(s.zero):
		return 0
	}
	seen := float64(s.zero)
	for _, b := range s.bins {
		if in := rank - seen; in <= float64(b.count) {
			low, high := s.span(b.index)
			return low + (high-low)*in/float64(b.count)
		}
		seen += float64(b.count)
	}
	return s.max
}

// span is the part of a bin that the extremes leave.
func (s *Sketch) span(i int32) (low, high float64) {
	low, high = math.Exp(float64(i-1)*logGamma), math.Exp(float64(i)*logGamma)
	return min(max(low, s.min), s.max), max(min(high, s.max), s.min)
}

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
