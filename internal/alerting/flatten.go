package alerting

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/histogram"
)

// sample is one value of one series of a metric, before it has a time.
type sample struct {
	name string // of the series
	// extra is the label that the metric itself does not carry: le or quantile;
	// "" for none.
	extra, extraValue string
	value             float64
	// native is set instead of value.
	native *histogram.Histogram
}

// flatten gives the samples of a metric of family that are wanted. A histogram
// gives its native form if that is wanted and there is one, and classic buckets
// otherwise: the rules take either, and one series is cheaper than twenty.
func flatten(family string, m *dto.Metric, want func(series string) bool, add func(sample)) {
	plain := func(series string, v float64) {
		if want(series) {
			add(sample{name: series, value: v})
		}
	}
	switch {
	case m.Counter != nil:
		plain(family, m.Counter.GetValue())
	case m.Gauge != nil:
		plain(family, m.Gauge.GetValue())
	case m.Untyped != nil:
		plain(family, m.Untyped.GetValue())
	case m.Summary != nil:
		if want(family) {
			for _, q := range m.Summary.Quantile {
				add(sample{name: family, extra: "quantile", extraValue: number(q.GetQuantile()), value: q.GetValue()})
			}
		}
		plain(family+"_sum", m.Summary.GetSampleSum())
		plain(family+"_count", float64(m.Summary.GetSampleCount()))
	case m.Histogram != nil:
		h := m.Histogram
		plain(family+"_sum", h.GetSampleSum())
		plain(family+"_count", float64(h.GetSampleCount()))
		if h.Schema != nil && want(family) {
			add(sample{name: family, native: native(h)})
		} else if want(family + "_bucket") {
			classic(family+"_bucket", h, add)
		}
	}
}

func classic(series string, h *dto.Histogram, add func(sample)) {
	for _, b := range h.Bucket {
		if !math.IsInf(b.GetUpperBound(), 1) {
			add(sample{name: series, extra: "le", extraValue: number(b.GetUpperBound()), value: float64(b.GetCumulativeCount())})
		}
	}
	add(sample{name: series, extra: "le", extraValue: "+Inf", value: float64(h.GetSampleCount())})
}

// native is an integer histogram as the storage takes it.
func native(h *dto.Histogram) *histogram.Histogram {
	return &histogram.Histogram{
		Schema: h.GetSchema(), ZeroThreshold: h.GetZeroThreshold(), ZeroCount: h.GetZeroCount(),
		Count: h.GetSampleCount(), Sum: h.GetSampleSum(),
		PositiveSpans: spans(h.PositiveSpan), PositiveBuckets: h.PositiveDelta,
		NegativeSpans: spans(h.NegativeSpan), NegativeBuckets: h.NegativeDelta,
	}
}

func spans(in []*dto.BucketSpan) []histogram.Span {
	if len(in) == 0 {
		return nil
	}
	out := make([]histogram.Span, len(in))
	for i, s := range in {
		out[i] = histogram.Span{Offset: s.GetOffset(), Length: s.GetLength()}
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
