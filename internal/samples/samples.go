// Package samples turns what a registry gathers into samples, as a scrape does.
package samples

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
)

// Sample is one value of one series of a metric, before it has a time.
type Sample struct {
	// Name is that of the series, for example with the suffix _bucket.
	Name string
	// Label is what the metric itself does not carry: le or quantile; "" for none.
	Label, LabelValue string
	Value             float64
	// Native is set instead of Value.
	Native *histogram.Histogram
}

// Labels are those of the sample's series, of which base are those of the
// scrape.
func (s Sample) Labels(m *dto.Metric, base labels.Labels) labels.Labels {
	b := labels.NewBuilder(base)
	for _, l := range m.Label {
		b.Set(l.GetName(), l.GetValue())
	}
	if s.Label != "" {
		b.Set(s.Label, s.LabelValue)
	}
	return b.Set(model.MetricNameLabel, s.Name).Labels()
}

// Each gives the samples of a metric of family whose series are wanted. With
// native a histogram gives its native form instead of classic buckets, if that
// is wanted and there is one: one series is cheaper than twenty. No sample
// refers to the metric.
func Each(family string, m *dto.Metric, native bool, want func(series string) bool, add func(Sample)) {
	plain := func(series string, v float64) {
		if want(series) {
			add(Sample{Name: series, Value: v})
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
				add(Sample{Name: family, Label: model.QuantileLabel, LabelValue: number(q.GetQuantile()), Value: q.GetValue()})
			}
		}
		plain(family+"_sum", m.Summary.GetSampleSum())
		plain(family+"_count", float64(m.Summary.GetSampleCount()))
	case m.Histogram != nil:
		h := m.Histogram
		plain(family+"_sum", h.GetSampleSum())
		plain(family+"_count", float64(h.GetSampleCount()))
		if native && h.Schema != nil && want(family) {
			add(Sample{Name: family, Native: nativeHistogram(h)})
		} else if want(family + "_bucket") {
			buckets(family+"_bucket", h, add)
		}
	}
}

// buckets gives the classic buckets, of which the last is +Inf.
func buckets(series string, h *dto.Histogram, add func(Sample)) {
	for _, b := range h.Bucket {
		if !math.IsInf(b.GetUpperBound(), 1) {
			add(Sample{Name: series, Label: model.BucketLabel, LabelValue: number(b.GetUpperBound()), Value: float64(b.GetCumulativeCount())})
		}
	}
	add(Sample{Name: series, Label: model.BucketLabel, LabelValue: "+Inf", Value: float64(h.GetSampleCount())})
}

// nativeHistogram copies an integer histogram: the message is the gatherer's.
func nativeHistogram(h *dto.Histogram) *histogram.Histogram {
	return &histogram.Histogram{
		Schema: h.GetSchema(), ZeroThreshold: h.GetZeroThreshold(), ZeroCount: h.GetZeroCount(),
		Count: h.GetSampleCount(), Sum: h.GetSampleSum(),
		PositiveSpans: spans(h.PositiveSpan), PositiveBuckets: append([]int64(nil), h.PositiveDelta...),
		NegativeSpans: spans(h.NegativeSpan), NegativeBuckets: append([]int64(nil), h.NegativeDelta...),
	}
}

func spans(in []*dto.BucketSpan) []histogram.Span {
	var out []histogram.Span
	for _, s := range in {
		out = append(out, histogram.Span{Offset: s.GetOffset(), Length: s.GetLength()})
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
