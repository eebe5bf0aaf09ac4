package promtest

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Sample is one value of one series.
type Sample struct {
	Labels labels.Labels
	Value  float64
}

// Flatten turns families into samples as a scrape of the text format does.
// Only families that keep is true for are taken; a nil keep takes all. The
// samples do not refer to the families.
func Flatten(families []*dto.MetricFamily, keep func(name string) bool) []Sample {
	var out []Sample
	for _, f := range families {
		if keep != nil && !keep(f.GetName()) {
			continue
		}
		for _, m := range f.Metric {
			b := labels.NewBuilder(labels.EmptyLabels())
			for _, l := range m.Label {
				b.Set(l.GetName(), l.GetValue())
			}
			flattenMetric(m, func(suffix, name, value string, v float64) {
				b.Set(model.MetricNameLabel, f.GetName()+suffix)
				if name != "" {
					b.Set(name, value)
				}
				out = append(out, Sample{b.Labels(), v})
				if name != "" {
					b.Del(name)
				}
			})
		}
	}
	return out
}

// flattenMetric gives each sample of a metric, with the label it adds if any.
func flattenMetric(m *dto.Metric, add func(suffix, name, value string, v float64)) {
	switch {
	case m.Counter != nil:
		add("", "", "", m.Counter.GetValue())
	case m.Gauge != nil:
		add("", "", "", m.Gauge.GetValue())
	case m.Summary != nil:
		for _, q := range m.Summary.Quantile {
			add("", "quantile", number(q.GetQuantile()), q.GetValue())
		}
		add("_sum", "", "", m.Summary.GetSampleSum())
		add("_count", "", "", float64(m.Summary.GetSampleCount()))
	case m.Histogram != nil:
		for _, bucket := range m.Histogram.Bucket {
			if !math.IsInf(bucket.GetUpperBound(), 1) {
				add("_bucket", "le", number(bucket.GetUpperBound()), float64(bucket.GetCumulativeCount()))
			}
		}
		add("_bucket", "le", "+Inf", float64(m.Histogram.GetSampleCount()))
		add("_sum", "", "", m.Histogram.GetSampleSum())
		add("_count", "", "", float64(m.Histogram.GetSampleCount()))
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
