package alerting

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
)

// Sample is one value of a series, without a time.
type Sample struct {
	// Name is the name of the series, for example with the suffix _bucket.
	Name string
	// Label is the additional label le or quantile, or "".
	Label, LabelValue string
	Value             float64
	// Native is a native histogram. Value is then unused.
	Native *histogram.Histogram
}

// Labels returns the labels of the sample's series. base are the labels of the scrape.
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

// Each calls add for the samples of a metric that want accepts. With native, a histogram that
// has a native form gives that single series instead of its buckets, because it is cheaper than
// twenty. Samples do not refer to m.
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

// buckets adds the classic buckets. The last one is +Inf.
func buckets(series string, h *dto.Histogram, add func(Sample)) {
	for _, b := range h.Bucket {
		if !math.IsInf(b.GetUpperBound(), 1) {
			add(Sample{Name: series, Label: model.BucketLabel, LabelValue: number(b.GetUpperBound()), Value: float64(b.GetCumulativeCount())})
		}
	}
	add(Sample{Name: series, Label: model.BucketLabel, LabelValue: "+Inf", Value: float64(h.GetSampleCount())})
}

// nativeHistogram copies an integer histogram, because the gatherer owns h.
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
