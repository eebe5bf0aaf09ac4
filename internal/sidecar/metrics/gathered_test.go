package metrics

import (
	"sort"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// gathered maps "name{label=value,...}" to a series.
type gathered map[string]*dto.Metric

// gather returns all exported series. client_golang checks them: no duplicates, sorted labels
// with valid text, and matching types.
func gather(t *testing.T, r *testRecorder) gathered {
	t.Helper()
	fams, err := prometheus.Gatherers{r}.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return index(fams)
}

func index(fams []*dto.MetricFamily) gathered {
	all := gathered{}
	for _, f := range fams {
		for _, m := range f.Metric {
			all[seriesName(f.GetName(), m)] = m
		}
	}
	return all
}

func seriesName(name string, m *dto.Metric) string {
	var ls []string
	for _, l := range m.Label {
		ls = append(ls, l.GetName()+"="+l.GetValue())
	}
	sort.Strings(ls)
	return name + "{" + strings.Join(ls, ",") + "}"
}

// value returns the value of a counter or gauge, or the count of a distribution.
func (g gathered) value(t *testing.T, series string) float64 {
	t.Helper()
	m := g[series]
	switch {
	case m == nil:
		t.Fatalf("no series %s", series)
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	}
	return float64(m.Summary.GetSampleCount())
}

// of lists the series with a label, such as "target=a".
func (g gathered) of(pair string) []string {
	var names []string
	for name := range g {
		if strings.Contains(name, "{"+pair) || strings.Contains(name, ","+pair) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
