package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/promtest"
)

// TestUsualMissIsHeldBack: an objective out of reach is held back while neither the hour nor the six hours before
// are clearly worse than usual at this time of day, and only if availability has its own objective.
func TestUsualMissIsHeldBack(t *testing.T) {
	for name, tt := range map[string]struct {
		usual           []float64 // of each prober
		hour, sixHours  float64   // shares of bad turns
		withoutFailures bool      // no objective of availability covers the job
		held            bool
	}{
		"as usual":                        {usual: []float64{0.3}, hour: 0.4, sixHours: 0.4, held: true},
		"an hour that is clearly worse":   {usual: []float64{0.3}, hour: 0.52, sixHours: 0.4},
		"six hours that are worse":        {usual: []float64{0.3}, hour: 0.4, sixHours: 0.52},
		"usually nothing at this hour":    {usual: []float64{0}, hour: 0.1, sixHours: 0.02},
		"no objective out of reach":       {hour: 0.1, sixHours: 0.02},
		"two probers that know it":        {usual: []float64{0.3, 0.4}, hour: 0.4, sixHours: 0.4, held: true},
		"a prober without the usual miss": {usual: []float64{0.3, 0}, hour: 0.4, sixHours: 0.4},
		"no objective of availability":    {usual: []float64{0.3}, hour: 0.4, sixHours: 0.4, withoutFailures: true},
	} {
		t.Run(name, func(t *testing.T) {
			expr := exprOf(t, withSLOs(ttft, available)(), "target_workload_slo:synthetic_slo_usual:group")
			s, now := promtest.New(t, []byte("groups: []\n"), time.Minute), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
			sample := func(v float64, name string, pairs ...string) promtest.Sample {
				return promtest.Sample{Labels: labels.FromStrings(append([]string{"__name__", name}, pairs...)...), Value: v}
			}
			burn := func(window string, share float64) promtest.Sample {
				return sample(share/0.01, "target_workload_slo:synthetic_slo_burn:ratio_rate"+window, "target", "a", "workload", "chat", "slo", "ttft", "sli", "latency")
			}
			for ago := 6 * time.Hour; ago >= 0; ago -= time.Minute {
				samples := []promtest.Sample{burn("1h", tt.hour), burn("6h", tt.sixHours), sample(0.01, "slo:synthetic_slo_budget:ratio", "slo", "ttft", "sli", "latency")}
				if !tt.withoutFailures {
					samples = append(samples, sample(0, "target_workload_slo:synthetic_slo_violations:increase1h", "target", "a", "workload", "chat", "slo", "available"))
				}
				s.Scrape(now.Add(-ago), "prober-0", samples)
				for i, u := range tt.usual {
					s.Scrape(now.Add(-ago), "usual-"+string(rune('0'+i)), []promtest.Sample{sample(u, metrics.SLOUsualMiss, "target", "a", "workload", "chat", "slo", "ttft")})
				}
			}
			q, err := s.Engine.NewInstantQuery(t.Context(), s.Storage, nil, expr, now)
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			got, err := q.Exec(t.Context()).Vector()
			if err != nil || len(got) > 1 || (len(got) == 1) != tt.held {
				t.Errorf("%v, %v; held back: want %v", got, err, tt.held)
			}
		})
	}
}

// exprOf returns the expression of a recorded series.
func exprOf(t *testing.T, in rules.Input, name string) string {
	t.Helper()
	for _, g := range generate(t, in).Groups.Groups {
		for _, r := range g.Rules {
			if r.Record == name {
				return r.Expr
			}
		}
	}
	t.Fatalf("nothing records %s", name)
	return ""
}

// TestNothingIsUsualWithoutAvailability: without such an objective, nothing else would page for failures.
func TestNothingIsUsualWithoutAvailability(t *testing.T) {
	for _, in := range []rules.Input{withSLOs(ttft)(), withSLOs(ttft, slo.Objective{Name: "strict", SLI: slo.TPOT, Threshold: time.Second, Objective: 0.99, Window: 30 * day})()} {
		text, err := generate(t, in).PrometheusYAML()
		if err != nil || strings.Contains(string(text), "synthetic_slo_usual:group") {
			t.Errorf("a usual miss is held back (%v)", err)
		}
	}
}
