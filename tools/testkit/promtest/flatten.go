package promtest

import (
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
)

// Sample is a value of a series.
type Sample struct {
	Labels labels.Labels
	Value  float64
}

// Flatten converts families to samples like a scrape of the text format. It takes the
// families that keep accepts; a nil keep accepts all. The samples do not refer to
// the families.
func Flatten(families []*dto.MetricFamily, keep func(name string) bool) []Sample {
	var out []Sample
	for _, f := range families {
		if keep != nil && !keep(f.GetName()) {
			continue
		}
		for _, m := range f.Metric {
			Each(f.GetName(), m, func(string) bool { return true }, func(s Value) {
				out = append(out, Sample{s.Labels(m, labels.EmptyLabels()), s.Value})
			})
		}
	}
	return out
}
