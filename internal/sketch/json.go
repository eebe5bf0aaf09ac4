package sketch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/atomicfile"
)

// document is a sketch as JSON. Bins is one string, so that an indented file stays short. It has pairs
// "index:count"; each index after the first is the distance from the previous one. "-120:3,2:1" is 3 values
// in bin −120 and 1 in −118.
type document struct {
	Count uint64  `json:"count"`
	Zero  uint64  `json:"zero,omitempty"`
	Sum   float64 `json:"sum"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
	Bins  string  `json:"bins,omitempty"`
}

// rounding is the tolerated relative rounding error of a sum.
const rounding = 1e-6

// MarshalJSON encodes the whole sketch; decoding it gives the same quantiles and merges.
func (s *Sketch) MarshalJSON() ([]byte, error) {
	var bins strings.Builder
	last := int32(0)
	for i, b := range s.bins {
		if i > 0 {
			bins.WriteByte(',')
		}
		fmt.Fprintf(&bins, "%d:%d", b.index-last, b.count)
		last = b.index
	}
	return json.Marshal(document{Count: s.count, Zero: s.zero, Sum: s.sum, Min: s.min, Max: s.max, Bins: bins.String()})
}

// UnmarshalJSON rejects data that no sketch could have written, such as unordered bins or
// counts that do not add up.
func (s *Sketch) UnmarshalJSON(data []byte) error {
	var d document
	err := json.Unmarshal(data, &d)
	bins, total, binsErr := parseBins(d.Bins)
	if err = cmp.Or(atomicfile.InJSONTerms("it", err), binsErr); err != nil {
		return fmt.Errorf("reading a distribution: %w", err)
	}
	full := func(b bin) bool { return b.count == math.MaxUint32 } // a full bin has stopped counting
	if total+d.Zero != d.Count && !slices.ContainsFunc(bins, full) {
		return fmt.Errorf("reading a distribution: its bins hold %d values, its count says %d", total+d.Zero, d.Count)
	}
	if d.Min > d.Max || d.Min < 0 || d.Max > Largest || d.Count == 1 && d.Min != d.Max {
		return fmt.Errorf("reading a distribution: the minimum %g or the maximum %g is invalid", d.Min, d.Max)
	}
	if d.Zero > 0 && d.Min >= Smallest {
		return fmt.Errorf("reading a distribution: %d values are 0, but the minimum is %g", d.Zero, d.Min)
	}
	if n := float64(d.Count); d.Zero > d.Count || d.Sum < n*d.Min*(1-rounding) || d.Sum > n*d.Max*(1+rounding) {
		return fmt.Errorf("reading a distribution: the sum %g, with %d of %d values at 0, does not fit values between %g and %g",
			d.Sum, d.Zero, d.Count, d.Min, d.Max)
	}
	*s = Sketch{bins: bins, zero: d.Zero, count: d.Count, sum: d.Sum, min: d.Min, max: d.Max}
	return nil
}

func parseBins(text string) (bins []bin, total uint64, err error) {
	if text == "" {
		return nil, 0, nil
	}
	at := int64(0)
	for i, pair := range strings.Split(text, ",") {
		left, right, _ := strings.Cut(pair, ":")
		step, err := strconv.ParseInt(left, 10, 32)
		if err != nil {
			return nil, 0, fmt.Errorf("bin %q is not index:count", pair)
		}
		count, err := strconv.ParseUint(right, 10, 32)
		if err != nil || count == 0 {
			return nil, 0, fmt.Errorf("bin %q is not index:count with a count of at least 1", pair)
		}
		at += step
		if i > 0 && step <= 0 || at < int64(index(Smallest))-1 || at > int64(index(Largest))+1 {
			return nil, 0, fmt.Errorf("bin %q is out of order or out of range", pair)
		}
		bins = append(bins, bin{index: int32(at), count: uint32(count)})
		total += count
	}
	return bins, total, nil
}
