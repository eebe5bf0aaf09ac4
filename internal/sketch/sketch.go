// Package sketch has quantile sketches of positive values. They are small, can be merged, and have a
// bounded relative error.
//
// A Sketch counts values in bins whose bounds grow geometrically, so that the middle of a bin is never
// further than Error from any value inside it. It stores only bins with values, in 8 bytes each: ten values
// need at most 80 bytes, a million of a log-normal distribution with σ = 0.5 about 8 kB.
package sketch

import (
	"math"
	"slices"
)

// Error is the largest relative error of a quantile: |estimate − true| ≤ Error × true.
const Error = 0.002

// gamma is the ratio of neighbouring bin bounds, (1 + Error) / (1 − Error).
const gamma = (1 + Error) / (1 - Error)

// logGamma is ln(gamma), which is 2 artanh(Error).
const logGamma = 0.004000005333346133

// Values below Smallest count as 0, values above Largest as Largest. There are at most 14,400 bins.
const (
	Smallest = 1e-12
	Largest  = 1e13
)

// Sketch is a set of values. The zero value is an empty sketch. It is not safe for concurrent use.
type Sketch struct {
	// bins are sorted by index, without repetition and without empty bins.
	bins     []bin
	zero     uint64
	count    uint64
	sum      float64
	min, max float64
}

// bin counts the values in (gamma^(index−1), gamma^index].
type bin struct {
	index int32
	count uint32
}

// Add adds one value. Negative values count as 0; NaN is ignored.
func (s *Sketch) Add(v float64) {
	if math.IsNaN(v) {
		return
	}
	v = min(max(v, 0), Largest)
	s.widen(v, v)
	s.count++
	s.sum += v
	if v < Smallest {
		s.zero++
		return
	}
	s.put(bin{index: index(v), count: 1})
}

// Merge adds every value of o.
func (s *Sketch) Merge(o *Sketch) {
	if o.count == 0 {
		return
	}
	s.widen(o.min, o.max)
	s.count += o.count
	s.zero += o.zero
	s.sum += o.sum
	if len(s.bins) == 0 {
		s.bins = append(s.bins, o.bins...)
		return
	}
	for _, b := range o.bins {
		s.put(b)
	}
}

func (s *Sketch) Count() uint64 { return s.count }

// Sum returns the sum of the values, exact except for rounding.
func (s *Sketch) Sum() float64 { return s.sum }

// Quantile estimates the value of rank ⌈q × count⌉, counted from 1 in ascending order, with a
// relative error of at most Error. Quantiles 0 and 1 are the exact minimum and maximum. It is
// NaN for an empty sketch or a q outside [0, 1].
func (s *Sketch) Quantile(q float64) float64 {
	if s.count == 0 || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	rank := uint64(math.Ceil(q * float64(s.count)))
	switch {
	case rank <= 1:
		return s.min
	case rank >= s.count:
		return s.max
	case rank <= s.zero:
		return 0
	}
	seen := s.zero
	for _, b := range s.bins {
		seen += uint64(b.count)
		if seen >= rank {
			return min(max(middle(b.index), s.min), s.max)
		}
	}
	return s.max
}

// Reset empties the sketch and keeps its memory for the next values.
func (s *Sketch) Reset() { *s = Sketch{bins: s.bins[:0]} }

// put adds a bin's count. A new bin moves the later ones, but is rare: most values of a stream fall into
// existing bins.
func (s *Sketch) put(b bin) {
	i, found := slices.BinarySearchFunc(s.bins, b, func(b, o bin) int { return int(b.index - o.index) })
	if !found {
		s.bins = slices.Insert(s.bins, i, b)
		return
	}
	// A full bin stays full instead of overflowing to 0. More than 2³² values of one size make
	// no difference to a quantile.
	at := &s.bins[i].count
	*at = uint32(min(uint64(*at)+uint64(b.count), math.MaxUint32))
}

func (s *Sketch) widen(low, high float64) {
	if s.count == 0 {
		s.min, s.max = low, high
		return
	}
	s.min, s.max = min(s.min, low), max(s.max, high)
}

// index returns the bin of v: the smallest i with v ≤ gamma^i.
func index(v float64) int32 { return int32(math.Ceil(math.Log(v) / logGamma)) }

// middle returns the value whose relative distance from all values in the bin is at most Error.
func middle(i int32) float64 { return 2 * math.Exp(float64(i)*logGamma) / (1 + gamma) }

// Rank estimates how many values are at most v. It interpolates within v's bin, because a step
// at each bin would look like certainty to interval estimates.
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

// At is the inverse of Rank: it returns the value of a rank. Ranks below 0 return the minimum,
// ranks above the count the maximum; an empty sketch returns NaN. The error is up to 2 × Error,
// because At interpolates within a bin.
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

func (s *Sketch) span(i int32) (low, high float64) {
	low, high = math.Exp(float64(i-1)*logGamma), math.Exp(float64(i)*logGamma)
	return min(max(low, s.min), s.max), max(min(high, s.max), s.min)
}
