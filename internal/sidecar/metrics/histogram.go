package metrics

import (
	"math"
	"time"
)

// Native buckets have schema 3: their bounds grow by 2^(1/8), the largest such
// ratio within 1.1. Values outside nativeMin … nativeMax fall into the zero
// bucket and the last one, so a histogram has at most 272 buckets, and neither
// a reset nor a coarser schema is ever needed to hold it in bounds.
const (
	nativeSchema  = 3
	nativePerTwo  = 1 << nativeSchema
	nativeMinExp  = -20 // 2^-20 s, about a microsecond: the zero bucket's width
	nativeMaxExp  = 14  // 2^14 s, about four and a half hours
	zeroThreshold = 1.0 / (1 << -nativeMinExp)
)

// layout is what the histograms of one family share.
type layout struct {
	bounds []time.Duration
	// upper are the bounds in seconds, as the exposition has them.
	upper []float64
	// mantissas are the bits of the fractions 2^(i/8) − 1 for i = 0 … 7: the
	// bounds of the native buckets within a power of two.
	mantissas [nativePerTwo]uint64
	// exemplars says whether the classic buckets remember a trace.
	exemplars bool
}

func newLayout(bounds []time.Duration, exemplars bool) *layout {
	l := &layout{bounds: bounds, exemplars: exemplars}
	for _, b := range bounds {
		l.upper = append(l.upper, b.Seconds())
	}
	l.upper = append(l.upper, math.Inf(1))
	for i := range l.mantissas {
		l.mantissas[i] = math.Float64bits(math.Exp2(float64(i)/nativePerTwo)) & mantissaMask
	}
	return l
}

// histogram counts durations in classic and native buckets. client_golang's
// own would do, but holds ten times the memory (6 kB against 0.6) and takes
// 26 µs to be written out, which for the 3,600 of 200 targets is 95 ms a scrape.
// This one lives under the lock of its job, which a turn takes once for all of
// its tokens, and needs no atomics. A test wants the same buckets of both.
type histogram struct {
	*layout
	count uint64
	// sum is in nanoseconds: exact up to 104 days, which seconds are not.
	sum float64
	// classic counts per bucket, the one above the last bound included.
	classic []uint64
	// zero counts the native zero bucket; native[i] has the key low + i.
	zero      uint64
	native    []uint64
	low       int
	exemplars []exemplar
}

// exemplar is one traced value of a classic bucket.
type exemplar struct {
	value time.Duration
	at    time.Time
	trace string
}

// exemplarEvery bounds how often a bucket's exemplar is replaced: a scrape
// sees only the last.
const exemplarEvery = 10 * time.Second

func newHistogram(l *layout) *histogram {
	h := &histogram{layout: l, classic: make([]uint64, len(l.bounds)+1)}
	if l.exemplars {
		h.exemplars = make([]exemplar, len(h.classic))
	}
	return h
}

// observe counts one value and returns its classic bucket. A negative value,
// which only a clock that went backwards can give, counts as 0.
func (h *histogram) observe(d time.Duration) int {
	d = max(d, 0)
	h.count++
	h.sum += float64(d)
	i := 0
	for i < len(h.bounds) && d > h.bounds[i] {
		i++
	}
	h.classic[i]++
	seconds := float64(d) / 1e9
	if seconds <= zeroThreshold {
		h.zero++
		return i
	}
	key := h.key(seconds)
	if at := key - h.low; uint(at) >= uint(len(h.native)) {
		h.grow(key)
	}
	h.native[key-h.low]++
	return i
}

// trace counts one value and remembers its trace as the bucket's exemplar.
func (h *histogram) trace(d time.Duration, id string, at time.Time) {
	e := &h.exemplars[h.observe(d)]
	if id == "" || at.Sub(e.at) < exemplarEvery {
		return
	}
	*e = exemplar{value: d, at: at, trace: id}
}

const (
	mantissaBits = 52
	mantissaMask = 1<<mantissaBits - 1
	exponentBias = 1023
)

// key is the native bucket of v > 0: the smallest k with v ≤ 2^(k/8). It reads
// the float's bits, as a logarithm would cost more than all the rest.
func (l *layout) key(v float64) int {
	bits := math.Float64bits(v)
	mantissa := bits & mantissaMask
	exp := int(bits>>mantissaBits) - exponentBias
	// Three halvings find how many of the bounds above 2^exp lie below v.
	m := &l.mantissas
	i := 0
	if mantissa > m[4] {
		i = 4
	}
	if mantissa > m[i+2] {
		i += 2
	}
	if mantissa > m[i+1] {
		i++
	}
	if mantissa > m[i] {
		i++
	}
	return min(exp*nativePerTwo+i, nativeMaxExp*nativePerTwo)
}

// grow makes room for the key, and some for its neighbours: values come in
// clusters.
func (h *histogram) grow(key int) {
	const slack = 4
	low, high := key-slack, key+slack
	if n := len(h.native); n > 0 {
		low, high = min(low, h.low), max(high, h.low+n-1)
	}
	native := make([]uint64, high-low+1)
	if len(h.native) > 0 {
		copy(native[h.low-low:], h.native)
	}
	h.native, h.low = native, low
}
