package promtest

import (
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/alerting"
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
			alerting.Each(f.GetName(), m, false, func(string) bool { return true }, func(s alerting.Sample) {
				out = append(out, Sample{s.Labels(m, labels.EmptyLabels()), s.Value})
			})
		}
	}
	return out
}
