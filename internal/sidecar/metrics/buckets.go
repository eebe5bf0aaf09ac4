package metrics

import (
	"cmp"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// nativeSchema is the schema of the native buckets: each doubling of a value has 8 of them.
const nativeSchema int32 = 3

// nativeBounds returns the upper bounds of the native buckets between 0.5 and 1. They are those of client_golang.
func nativeBounds() [1 << nativeSchema]float64 {
	return [...]float64{
		0.5, 0.5452538663326288, 0.5946035575013605, 0.6484197773255048,
		0.7071067811865475, 0.7711054127039704, 0.8408964152537144, 0.9170040432046711,
	}
}

// histogram counts durations in classic and native buckets. client_golang's histogram has each bucket twice,
// because it can be read while it counts, and takes 8 to 17 µs to read. This one is used under the lock of its
// job.
type histogram struct {
	bounds []float64 // upper bounds of the classic buckets, in seconds
	// classic has the counts of the classic buckets, not cumulative; the last one is above all bounds.
	classic []uint64
	// native has the native buckets that are not empty, sorted by index.
	native      []nativeBucket
	zero, count uint64
	sum         float64 // seconds
	// exemplars has the last exemplar of each classic bucket; nil before the first.
	exemplars []*dto.Exemplar
	created   *timestamppb.Timestamp
}

// nativeBucket counts the values in (2^((index-1)/8), 2^(index/8)]. A target has a thousand of them, so they are small: the
// count has 48 bits.
type nativeBucket struct {
	low   uint32
	high  uint16
	index int16
}

func (b nativeBucket) count() int64 { return int64(b.high)<<32 | int64(b.low) }

func (b *nativeBucket) add() {
	if b.low++; b.low == 0 {
		b.high++
	}
}

// newHistogram returns a histogram of a family. Its labels are added when it is gathered.
func newHistogram(name string) *histogram {
	bounds := HistogramOpts(name).Buckets
	return &histogram{bounds: bounds, classic: make([]uint64, len(bounds)+1), created: timestamppb.Now()}
}

// observe counts a duration, with the trace ID of its turn unless it is "". A negative duration, from a clock
// that went backwards, counts as 0.
func (h *histogram) observe(d time.Duration, trace string) {
	v := max(d, 0).Seconds()
	h.count++
	h.sum += v
	i, _ := slices.BinarySearch(h.bounds, v)
	h.classic[i]++
	if trace != "" {
		if h.exemplars == nil {
			h.exemplars = make([]*dto.Exemplar, len(h.classic))
		}
		h.exemplars[i] = exemplar(v, trace)
	}
	if v <= zeroThreshold {
		h.zero++
		return
	}
	index := nativeIndex(v)
	at, found := slices.BinarySearchFunc(h.native, index, func(b nativeBucket, index int16) int { return cmp.Compare(b.index, index) })
	if !found {
		h.native = slices.Insert(h.native, at, nativeBucket{index: index})
	}
	h.native[at].add()
}

func nativeIndex(v float64) int16 {
	bounds := nativeBounds()
	fraction, exponent := math.Frexp(v)
	i, _ := slices.BinarySearch(bounds[:], fraction)
	return int16(i + (exponent-1)*len(bounds))
}

// exemplar returns an exemplar with its parts in one allocation, because each turn makes three.
func exemplar(v float64, trace string) *dto.Exemplar {
	e := &struct {
		exemplar    dto.Exemplar
		pair        dto.LabelPair
		pairs       [1]*dto.LabelPair
		at          timestamppb.Timestamp
		name, trace string
		value       float64
	}{name: LabelTraceID, trace: trace, value: v}
	now := time.Now()
	e.at.Seconds, e.at.Nanos = now.Unix(), int32(now.Nanosecond())
	e.pair.Name, e.pair.Value, e.pairs[0] = &e.name, &e.trace, &e.pair
	e.exemplar.Label, e.exemplar.Value, e.exemplar.Timestamp = e.pairs[:], &e.value, &e.at
	return &e.exemplar
}

// written returns the histogram in the form of the exposition.
func (h *histogram) written() *dto.Histogram {
	count, sum := h.count, h.sum
	out := &dto.Histogram{SampleCount: &count, SampleSum: &sum, CreatedTimestamp: h.created}
	h.writeNative(out)
	h.writeClassic(out)
	return out
}

// writeClassic adds the classic buckets. The bucket +Inf is only written for its exemplar, because encoders add it.
func (h *histogram) writeClassic(out *dto.Histogram) {
	buckets, counts := make([]dto.Bucket, len(h.bounds)), make([]uint64, len(h.bounds))
	out.Bucket = make([]*dto.Bucket, len(h.bounds), len(h.bounds)+1)
	total := uint64(0)
	for i := range h.bounds {
		total += h.classic[i]
		b := &buckets[i]
		counts[i] = total
		b.CumulativeCount, b.UpperBound, out.Bucket[i] = &counts[i], &h.bounds[i], b
		if h.exemplars != nil {
			b.Exemplar = h.exemplars[i]
		}
	}
	if h.exemplars == nil {
		return
	}
	if e := h.exemplars[len(h.bounds)]; e != nil {
		infinite := math.Inf(1)
		out.Bucket = append(out.Bucket, &dto.Bucket{CumulativeCount: out.SampleCount, UpperBound: &infinite, Exemplar: e})
	}
}

// writeNative adds the native buckets. A gap of at most two empty buckets does not begin a new span.
func (h *histogram) writeNative(out *dto.Histogram) {
	schema, threshold, zero := nativeSchema, float64(zeroThreshold), h.zero
	out.Schema, out.ZeroThreshold, out.ZeroCount = &schema, &threshold, &zero
	out.PositiveDelta = make([]int64, 0, len(h.native)+len(h.native)/2)
	next, previous := int16(0), int64(0)
	add := func(count int64) {
		*out.PositiveSpan[len(out.PositiveSpan)-1].Length++
		out.PositiveDelta = append(out.PositiveDelta, count-previous)
		previous = count
	}
	for i, b := range h.native {
		gap := int32(b.index - next)
		if i == 0 || gap > 2 {
			out.PositiveSpan = append(out.PositiveSpan, &dto.BucketSpan{Offset: &gap, Length: new(uint32)})
		} else {
			for range gap {
				add(0)
			}
		}
		add(b.count())
		next = b.index + 1
	}
}
