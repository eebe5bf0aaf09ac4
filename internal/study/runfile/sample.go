package runfile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/sketch"
)

// Sample is a set of durations in seconds. Values are exact to a microsecond. They are binned
// to 1 % in files of earlier versions and for gaps between tokens, because a turn has hundreds.
// The zero value is an empty exact sample. Methods sort it, so it is not safe for concurrent
// use.
type Sample struct {
	micros []int64
	sorted bool
	binned *sketch.Sketch
}

const microsecond = 1e-6

// Add adds a value. Negative values count as 0.
func (s *Sample) Add(seconds float64) {
	if s.binned != nil {
		s.binned.Add(seconds)
		return
	}
	s.micros, s.sorted = append(s.micros, int64(math.Round(max(seconds, 0)/microsecond))), false
}

// Bin adds a value and makes the sample binned.
func (s *Sample) Bin(seconds float64) {
	s.bin()
	s.binned.Add(seconds)
}

func (s *Sample) bin() {
	if s.binned == nil {
		s.binned = &sketch.Sketch{}
		for _, v := range s.micros {
			s.binned.Add(float64(v) * microsecond)
		}
		s.micros = nil
	}
}

// Merge adds the values of o. The result is binned if one of the two is.
func (s *Sample) Merge(o *Sample) {
	if o.binned != nil {
		s.bin()
		s.binned.Merge(o.binned)
		return
	}
	if s.binned == nil {
		s.micros, s.sorted = append(s.micros, o.micros...), len(s.micros) == 0 && o.sorted
		return
	}
	for _, v := range o.micros {
		s.binned.Add(float64(v) * microsecond)
	}
}

// Error returns the largest relative error of a quantile: 0 for exact values.
func (s *Sample) Error() float64 {
	if s.binned != nil {
		return sketch.Error
	}
	return 0
}

// Count returns the number of values.
func (s *Sample) Count() uint64 {
	if s.binned != nil {
		return s.binned.Count()
	}
	return uint64(len(s.micros))
}

// Sum returns the sum of the values.
func (s *Sample) Sum() float64 {
	if s.binned != nil {
		return s.binned.Sum()
	}
	var sum float64
	for _, v := range s.micros {
		sum += float64(v)
	}
	return sum * microsecond
}

// Squares returns the sum of the squared distances from a value.
func (s *Sample) Squares(from float64) float64 {
	if s.binned != nil {
		return s.binned.Squares(from)
	}
	var sum float64
	for _, v := range s.micros {
		d := float64(v)*microsecond - from
		sum += d * d
	}
	return sum
}

// Quantile returns the value of rank ⌈q × count⌉; NaN if empty.
func (s *Sample) Quantile(q float64) float64 {
	switch {
	case s.binned != nil:
		return s.binned.Quantile(q)
	case len(s.micros) == 0:
		return math.NaN()
	}
	s.sort()
	rank := int(math.Ceil(q * float64(len(s.micros))))
	return float64(s.micros[min(max(rank, 1), len(s.micros))-1]) * microsecond
}

// Rank returns the number of values at or below v.
func (s *Sample) Rank(v float64) float64 {
	if s.binned != nil {
		return s.binned.Rank(v)
	}
	s.sort()
	n, _ := slices.BinarySearchFunc(s.micros, v, func(x int64, v float64) int {
		if float64(x)*microsecond <= v {
			return -1
		}
		return 1
	})
	return float64(n)
}

// At returns the value of a fractional rank, interpolated between two values.
func (s *Sample) At(rank float64) float64 {
	n := len(s.micros)
	switch {
	case s.binned != nil:
		return s.binned.At(rank)
	case n == 0 || math.IsNaN(rank):
		return math.NaN()
	}
	s.sort()
	// The k-th of n values stands for a share of k/(n+1).
	place := min(max(rank*float64(n+1)/float64(n), 1), float64(n))
	low := int(place)
	part := place - float64(low)
	return ((1-part)*float64(s.micros[low-1]) + part*float64(s.micros[min(low, n-1)])) * microsecond
}

// GeometricMean returns the geometric mean; NaN if empty. A value of 0 counts as
// sketch.Smallest.
func (s *Sample) GeometricMean() float64 {
	if s.binned != nil {
		return s.binned.GeometricMean()
	}
	var sum float64
	for _, v := range s.micros {
		sum += math.Log(max(float64(v)*microsecond, sketch.Smallest))
	}
	return math.Exp(sum / float64(len(s.micros)))
}

func (s *Sample) sort() {
	if !s.sorted {
		slices.Sort(s.micros)
		s.sorted = true
	}
}

const maxMicros = int64(sketch.Largest)

// MarshalJSON writes exact values as one string, which keeps an indented file short:
// microseconds in rising order, each as the difference from the previous one ("181034,12,401").
// Binned values are written like a sketch.
func (s *Sample) MarshalJSON() ([]byte, error) {
	if s.binned != nil {
		return s.binned.MarshalJSON()
	}
	s.sort()
	text, last := []byte{'"'}, int64(0)
	for i, v := range s.micros {
		if i > 0 {
			text = append(text, ',')
		}
		text, last = strconv.AppendInt(text, v-last, 10), v
	}
	return append(text, '"'), nil
}

// UnmarshalJSON reads either form. It rejects falling values and values too large for a turn.
func (s *Sample) UnmarshalJSON(data []byte) error {
	*s = Sample{sorted: true}
	if len(data) == 0 || data[0] != '"' {
		s.binned = &sketch.Sketch{}
		return s.binned.UnmarshalJSON(data)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("reading the values of turns: %w", err)
	}
	if text == "" {
		return nil
	}
	s.micros = make([]int64, 0, strings.Count(text, ",")+1)
	last := int64(0)
	for step := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseInt(step, 10, 64)
		if err != nil || v < 0 || v > maxMicros-last {
			return fmt.Errorf("reading the values of turns: %q is not a difference in microseconds", step)
		}
		last += v
		s.micros = append(s.micros, last)
	}
	return nil
}
