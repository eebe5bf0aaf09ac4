package promtest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/tools/testkit/promtest"
)

// TestEach converts every kind of metric.
func TestEach(t *testing.T) {
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "c_total"})
	counter.Add(3)
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "g", ConstLabels: prometheus.Labels{"target": "a"}})
	gauge.Set(-1)
	summary := prometheus.NewSummary(prometheus.SummaryOpts{Name: "s", Objectives: map[float64]float64{0.5: 0.01}})
	summary.Observe(4)
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Buckets: []float64{1, 2.5}, NativeHistogramBucketFactor: 1.1})
	histogram.Observe(2)
	all := func(string) bool { return true }
	for _, tc := range []struct {
		family string
		metric prometheus.Metric
		want   func(string) bool
		got    []string
	}{
		{"c_total", counter, all, []string{`{__name__="c_total", job="j"} 3`}},
		{"g", gauge, all, []string{`{__name__="g", job="j", target="a"} -1`}},
		{"s", summary, all, []string{
			`{__name__="s_sum", job="j"} 4`, `{__name__="s_count", job="j"} 1`, `{__name__="s", job="j", quantile="0.5"} 4`,
		}},
		{"h", histogram, all, []string{
			`{__name__="h_sum", job="j"} 2`, `{__name__="h_count", job="j"} 1`, `{__name__="h_bucket", job="j", le="1"} 0`,
			`{__name__="h_bucket", job="j", le="2.5"} 1`, `{__name__="h_bucket", job="j", le="+Inf"} 1`,
		}},
		{"h", histogram, func(s string) bool { return s == "h_count" }, []string{`{__name__="h_count", job="j"} 1`}},
	} {
		var m dto.Metric
		if err := tc.metric.Write(&m); err != nil {
			t.Fatal(err)
		}
		var got []string
		promtest.Each(tc.family, &m, tc.want, func(s promtest.Value) {
			got = append(got, fmt.Sprint(s.Labels(&m, labels.FromStrings("job", "j")), " ", s.Value))
		})
		if diff := cmp.Diff(tc.got, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.family, diff)
		}
	}
}
