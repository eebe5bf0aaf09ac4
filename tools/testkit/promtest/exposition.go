package promtest

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Value is one value of a series, without a time.
type Value struct {
	// Name is the name of the series, for example with the suffix _bucket.
	Name string
	// Label is the additional label le or quantile, or "".
	Label, LabelValue string
	Value             float64
}

// Labels returns the labels of the value's series. base are the labels of the scrape.
func (s Value) Labels(m *dto.Metric, base labels.Labels) labels.Labels {
	b := labels.NewBuilder(base)
	for _, l := range m.Label {
		b.Set(l.GetName(), l.GetValue())
	}
	if s.Label != "" {
		b.Set(s.Label, s.LabelValue)
	}
	return b.Set(model.MetricNameLabel, s.Name).Labels()
}

// Each calls add for the samples of a metric that want accepts. Samples do not refer to m.
func Each(family string, m *dto.Metric, want func(series string) bool, add func(Value)) {
	addNamed := func(series string, v float64) {
		if want(series) {
			add(Value{Name: series, Value: v})
		}
	}
	switch {
	case m.Counter != nil:
		addNamed(family, m.Counter.GetValue())
	case m.Gauge != nil:
		addNamed(family, m.Gauge.GetValue())
	case m.Untyped != nil:
		addNamed(family, m.Untyped.GetValue())
	case m.Summary != nil:
		addNamed(family+"_sum", m.Summary.GetSampleSum())
		addNamed(family+"_count", float64(m.Summary.GetSampleCount()))
		for _, q := range m.Summary.Quantile {
			if want(family) {
				add(Value{Name: family, Label: model.QuantileLabel, LabelValue: number(q.GetQuantile()), Value: q.GetValue()})
			}
		}
	case m.Histogram != nil:
		addNamed(family+"_sum", m.Histogram.GetSampleSum())
		addNamed(family+"_count", float64(m.Histogram.GetSampleCount()))
		if !want(family + "_bucket") {
			return
		}
		bucket := func(bound string, v uint64) {
			add(Value{Name: family + "_bucket", Label: model.BucketLabel, LabelValue: bound, Value: float64(v)})
		}
		for _, b := range m.Histogram.Bucket {
			if !math.IsInf(b.GetUpperBound(), 1) {
				bucket(number(b.GetUpperBound()), b.GetCumulativeCount())
			}
		}
		bucket("+Inf", m.Histogram.GetSampleCount())
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
