package rules

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/promtest"
)

// TestBudgetExhausted evaluates the expression on recorded values. A scenario would need the whole window
// of the objective to see the alert end.
func TestBudgetExhausted(t *testing.T) {
	const window = 2 * time.Hour
	o := slo.Objective{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: window}
	expr := strings.TrimSuffix(Input{SLOs: []slo.Objective{o}}.budgetExhausted().Expr, andConfigured)
	nan := math.NaN()
	for name, tt := range map[string]struct {
		remaining func(time.Duration) float64 // NaN for no sample
		history   time.Duration
		want      bool
	}{
		"some is left":              {func(time.Duration) float64 { return 0.1 }, window, false},
		"all is spent":              {func(time.Duration) float64 { return 0 }, window, true},
		"overspent":                 {func(time.Duration) float64 { return -2 }, window, true},
		"spent, and some came back": {func(after time.Duration) float64 { return -0.1 + float64(after/(2*time.Hour-time.Minute))*0.2 }, window, false},
		"all of a first half hour":  {func(time.Duration) float64 { return -0.5 }, window / 4, false},
		"six budgets in a quarter":  {func(time.Duration) float64 { return -5 }, window / 4, true},
		"no turn in the window":     {func(time.Duration) float64 { return nan }, window, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := promtest.New(t, []byte("groups: []\n"), time.Minute)
			begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			now := begin
			for after := time.Duration(0); after <= tt.history; after += sumInterval {
				now = begin.Add(after)
				samples := []promtest.Sample{recorded(recordTurnsSum, 1)}
				if v := tt.remaining(after); !math.IsNaN(v) {
					samples = append(samples, recorded(recordBudgetRemaining, v))
				}
				server.Scrape(now, "prometheus", samples)
			}
			if got := len(server.Query(expr, now)) > 0; got != tt.want {
				t.Errorf("exhausted: %v, want %v", got, tt.want)
			}
		})
	}
}

func recorded(name string, v float64) promtest.Sample {
	return promtest.Sample{Value: v, Labels: labels.FromStrings(model.MetricNameLabel, name,
		metrics.LabelTarget, "a", metrics.LabelWorkload, "chat", metrics.LabelSLO, "ttft")}
}
