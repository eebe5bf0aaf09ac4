package metrics

import (
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// histogramFrame shows one histogram, native and classic at once: the encoder
// of each format takes what it knows.
type histogramFrame struct {
	source     *histogram
	metric     dto.Metric
	histogram  dto.Histogram
	count      uint64
	zero       uint64
	sum        float64
	cumulative []uint64
	buckets    []dto.Bucket
	// spans are reused: as many as were ever needed.
	spans []*dto.BucketSpan
}

func newHistogramFrame(l labels, h *histogram) *histogramFrame {
	n := len(h.upper)
	hf := &histogramFrame{source: h, cumulative: make([]uint64, n), buckets: make([]dto.Bucket, n)}
	schema, threshold := int32(nativeSchema), float64(zeroThreshold)
	d := &hf.histogram
	d.SampleCount, d.SampleSum = &hf.count, &hf.sum
	d.Schema, d.ZeroThreshold, d.ZeroCount = &schema, &threshold, &hf.zero
	for i := range hf.buckets {
		b := &hf.buckets[i]
		b.UpperBound, b.CumulativeCount = &h.upper[i], &hf.cumulative[i]
		d.Bucket = append(d.Bucket, b)
	}
	d.Bucket = d.Bucket[:n-1]
	hf.metric.Label, hf.metric.Histogram = l, d
	return hf
}

// fill copies the histogram; its job's lock must be held.
func (hf *histogramFrame) fill() {
	h := hf.source
	hf.count, hf.zero, hf.sum = h.count, h.zero, h.sum/1e9
	total := uint64(0)
	for i, n := range h.classic {
		total += n
		hf.cumulative[i] = total
	}
	hf.fillNative(h)
	for i := range h.exemplars {
		hf.fillExemplar(i, &h.exemplars[i])
	}
}

// fillNative writes the buckets as runs: a run starts where more than two
// buckets were empty, as an empty bucket costs less than a run.
func (hf *histogramFrame) fillNative(h *histogram) {
	const tolerated = 2
	d := &hf.histogram
	d.PositiveSpan, d.PositiveDelta = d.PositiveSpan[:0], d.PositiveDelta[:0]
	// next is the key after the last bucket written, last its count.
	next, last := 0, uint64(0)
	for i, n := range h.native {
		if n == 0 {
			continue
		}
		// The exposition numbers a bucket by the power of its upper bound.
		key := h.low + i
		if gap := key - next; len(d.PositiveSpan) == 0 || gap > tolerated {
			hf.startSpan(int32(gap))
		} else {
			for ; gap > 0; gap-- {
				hf.appendBucket(-int64(last))
				last = 0
			}
		}
		hf.appendBucket(int64(n) - int64(last))
		next, last = key+1, n
	}
}

func (hf *histogramFrame) startSpan(offset int32) {
	d := &hf.histogram
	i := len(d.PositiveSpan)
	if i == len(hf.spans) {
		hf.spans = append(hf.spans, &dto.BucketSpan{Offset: new(int32), Length: new(uint32)})
	}
	s := hf.spans[i]
	*s.Offset, *s.Length = offset, 0
	d.PositiveSpan = append(d.PositiveSpan, s)
}

func (hf *histogramFrame) appendBucket(delta int64) {
	d := &hf.histogram
	d.PositiveDelta = append(d.PositiveDelta, delta)
	*d.PositiveSpan[len(d.PositiveSpan)-1].Length++
}

// fillExemplar shows a bucket's exemplar. The bucket above the last bound is
// shown only for its exemplar's sake: its count is the histogram's.
func (hf *histogramFrame) fillExemplar(i int, e *exemplar) {
	if e.trace == "" {
		return
	}
	b := &hf.buckets[i]
	if b.Exemplar == nil {
		b.Exemplar = &dto.Exemplar{
			Label: []*dto.LabelPair{pair("trace_id", "")},
			Value: new(float64), Timestamp: &timestamppb.Timestamp{},
		}
		if i == len(hf.buckets)-1 {
			hf.histogram.Bucket = append(hf.histogram.Bucket, b)
		}
	}
	*b.Exemplar.Label[0].Value = e.trace
	*b.Exemplar.Value = e.value.Seconds()
	setTime(b.Exemplar.Timestamp, e.at)
}

func setTime(to *timestamppb.Timestamp, t time.Time) {
	to.Seconds, to.Nanos = t.Unix(), int32(t.Nanosecond())
}
