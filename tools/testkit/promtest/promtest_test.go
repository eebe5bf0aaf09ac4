package promtest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/tools/testkit/promtest"
)

const ruleFile = `
groups:
  - name: test
    interval: 30s
    rules:
      - record: calls:sum
        expr: sum(calls_total)
      - alert: ManyCalls
        expr: calls:sum > 2
        for: 30s
`

// TestScrapeEvaluateFire: scraped samples are recorded, alerts fire after their time, and
// series become stale when they are no longer exposed.
func TestScrapeEvaluateFire(t *testing.T) {
	registry := prometheus.NewRegistry()
	calls := prometheus.NewCounter(prometheus.CounterOpts{Name: "calls_total", Help: "Calls."})
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "took_seconds", Help: "Durations.", Buckets: []float64{1, 2}})
	quantiles := prometheus.NewSummary(prometheus.SummaryOpts{Name: "lately_seconds", Help: "Durations.", Objectives: map[float64]float64{0.5: 0.01}})
	registry.MustRegister(calls, took, quantiles)
	took.Observe(1.5)
	quantiles.Observe(3)

	s := promtest.New(t, []byte(ruleFile), time.Minute)
	start := time.Unix(1_700_000_010, 0)
	at := func(n int) time.Time { return start.Add(time.Duration(n) * 30 * time.Second) }
	scrape := func(n int) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		s.Scrape(at(n), "a", promtest.Flatten(families, nil))
		s.Evaluate(at(n))
	}
	calls.Add(3)
	scrape(0)
	if firing := s.Firing(); len(firing) != 0 {
		t.Errorf("an alert fires too early: %v", firing)
	}
	scrape(1)
	if firing := s.Firing(); !slices.Equal(firing, []string{"ManyCalls"}) {
		t.Errorf("firing %v, want ManyCalls", firing)
	}
	for expr, want := range map[string]float64{
		"calls:sum":                                           3,
		`sum(took_seconds_bucket{le="1"})`:                    0,
		`sum(took_seconds_bucket{le="2"})`:                    1,
		`sum(took_seconds_bucket{le="+Inf"})`:                 1,
		`sum(took_seconds_sum)`:                               1.5,
		`sum(lately_seconds{quantile="0.5"})`:                 3,
		`sum(calls_total{job="synthetic",instance="a"})`:      3,
		`count(took_seconds_count) + count(calls_total)`:      2,
		`sum(lately_seconds_count) + sum(lately_seconds_sum)`: 4,
	} {
		if got := s.Query(expr, at(1)); len(got) != 1 || first(got) != want {
			t.Errorf("%s is %v, want %v", expr, got, want)
		}
	}
	s.Scrape(at(2), "a", nil)
	s.Evaluate(at(2))
	if got := s.Query("calls_total", at(2)); len(got) != 0 {
		t.Errorf("a failed instance still has %v", got)
	}
	if firing := s.Firing(); len(firing) != 0 {
		t.Errorf("an alert fires without data: %v", firing)
	}
}

func first(m map[string]float64) float64 {
	for _, v := range m {
		return v
	}
	return 0
}
