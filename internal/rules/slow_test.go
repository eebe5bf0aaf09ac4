package rules

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/promtest"
)

// TestFirstSecondsAreNoLastingLevel: a process that comes with a baseline has a
// mean of few turns at first, and its minimum over ten minutes is that of the
// seconds that there are.
func TestFirstSecondsAreNoLastingLevel(t *testing.T) {
	server := promtest.New(t, []byte("groups: []\n"), time.Minute)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const step, slowHold = 15 * time.Second, 10 * time.Minute
	fired := time.Duration(-1)
	for after := time.Duration(0); after < 15*time.Minute; after += step {
		var samples []promtest.Sample
		for metric, v := range map[string]float64{RecordGeomean(slowWindow): 1.5, RecordGeomean(shortWindow): 1.5, RecordSlowThreshold: 1.2} {
			samples = append(samples, promtest.Sample{Value: v, Labels: labels.FromStrings(
				model.MetricNameLabel, metric, metrics.LabelTarget, "a", metrics.LabelWorkload, "chat",
				metrics.LabelTurn, "first", metrics.LabelSignal, "ttft")})
		}
		at := begin.Add(after)
		server.Scrape(at, "prober", samples)
		if fired < 0 && len(server.Query(expression(t, AlertSlowRegression), at)) > 0 {
			fired = after
		}
	}
	if fired < slowHold || fired > slowHold+time.Minute {
		t.Errorf("a level that is there from the start fires after %v, want after %v", fired, slowHold)
	}
}

// TestStepIsSlow: a step fires at once and shows the level, unless the fast alert
// has it already; without turns there is no level to show.
func TestStepIsSlow(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	record := fmt.Sprintf("groups: [{name: g, rules: [{record: %q, expr: %q}]}]", RecordGeomean(shortWindow), maxBy(perSignal(), "level"))
	for name, tt := range map[string]struct {
		step, cusum, level float64 // level 0 is none
		want               bool
	}{
		"a step":                       {1, 0.2, 1.3, true},
		"not yet":                      {0.999, 0.2, 1.3, false},
		"the fast alert says so":       {1.2, 1.3, 1.3, false},
		"no turn in the last minutes":  {1, 0.2, 0, false},
		"a sum that is not a number":   {math.NaN(), 0.2, 1.3, false},
		"a level that is not a number": {1, 0.2, math.NaN(), true}, // the level decides nothing here
	} {
		t.Run(name, func(t *testing.T) {
			server := promtest.New(t, []byte(record), time.Minute)
			samples := []promtest.Sample{}
			add := func(metric string, v float64) {
				samples = append(samples, promtest.Sample{Value: v, Labels: labels.FromStrings(
					model.MetricNameLabel, metric, metrics.LabelTarget, "a", metrics.LabelWorkload, "chat",
					metrics.LabelTurn, "first", metrics.LabelSignal, "ttft")})
			}
			add(metrics.Step, tt.step)
			add(metrics.Cusum, tt.cusum)
			add(metrics.CusumLimit, 1.3)
			if tt.level != 0 {
				add("level", tt.level)
			}
			server.Scrape(at, "prober", samples)
			server.Evaluate(at)
			got := server.Query(expression(t, AlertSlowRegression), at)
			if (len(got) == 1) != tt.want {
				t.Fatalf("fires: %v, want %v", got, tt.want)
			}
			for _, v := range got {
				if v != tt.level && !math.IsNaN(tt.level) {
					t.Errorf("the value is %v, want the level", v)
				}
			}
		})
	}
}

// expression is that of an alert that needs no objective.
func expression(t *testing.T, alert string) string {
	t.Helper()
	groups, err := Input{}.generalGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert == alert {
				return r.Expr
			}
		}
	}
	t.Fatalf("no rule for %s", alert)
	return ""
}
