package sidecar

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"synthetic/internal/alerting"
	"synthetic/internal/sidecar/metrics"
)

// TestPagerMetrics: the exported metrics are those of the catalog.
func TestPagerMetrics(t *testing.T) {
	at := time.Unix(1767600000, 0)
	health := alerting.Health{
		Evaluations: 7, Evaluated: at,
		Alertmanagers: []alerting.Receiver{
			{URL: "http://a:9093", LastOK: at}, {URL: "https://a:9093", Undelivered: 4}, {URL: "http://b/prefix"},
		},
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newPagerCollector(func() alerting.Health { return health }))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var exported []metrics.Metric
	receivers := map[string]float64{}
	for _, f := range families {
		m := metrics.Metric{Name: f.GetName(), Kind: metrics.Kind(strings.ToLower(f.GetType().String())), Help: f.GetHelp()}
		for _, l := range f.Metric[0].Label {
			m.Labels = append(m.Labels, l.GetName())
		}
		exported = append(exported, m)
		if f.GetName() == metrics.PagerUndelivered {
			for _, s := range f.Metric {
				receivers[s.Label[0].GetValue()] = s.Gauge.GetValue()
			}
		}
	}
	want := metrics.PagerCatalog()
	for i := range want {
		want[i].Unit = ""
		slices.Sort(want[i].Labels)
	}
	slices.SortFunc(want, func(a, b metrics.Metric) int { return strings.Compare(a.Name, b.Name) })
	if diff := cmp.Diff(want, exported, cmpopts.IgnoreUnexported(metrics.Metric{})); diff != "" {
		t.Errorf("catalog and exposition differ (-catalog +exported):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"http://a:9093": 0, "https://a:9093": 4, "http://b/prefix": 0}, receivers); diff != "" {
		t.Errorf("Alertmanagers (-want +got):\n%s", diff)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}
