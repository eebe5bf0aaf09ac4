package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/dashboardtest"
)

// TestLikelyPartIsThatOfTheAlerts: panels and alerts show the same likely part.
func TestLikelyPartIsThatOfTheAlerts(t *testing.T) {
	recorded := map[string]string{}
	generated, err := rules.Generate(rules.Input{Jobs: []rules.Job{{Target: "chat", Workload: "chat"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range generated.Groups.Groups {
		for _, r := range g.Rules {
			recorded[r.Record] = r.Expr
		}
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		ttft, tpot float64
		want       string
	}{{4.4, 1.7, "queue_prefill"}, {1.2, 2, "decode"}, {2, 1.9, ""}, {1, 1.05, ""}} {
		store := dashboardtest.Open(t, dashboardtest.Text)
		put := func(value float64, labels ...string) {
			if err := store.Put(at, value, append(labels, "target", "chat", "workload", "chat")...); err != nil {
				t.Fatal(err)
			}
		}
		put(1, "__name__", metrics.PageScore, "signal", "ttft")
		put(tt.ttft, "__name__", metrics.RegressionRatio, "signal", "ttft")
		put(tt.tpot, "__name__", metrics.RegressionRatio, "signal", "tpot")
		for part, seconds := range map[string]float64{"connect": 0.1, "queue_prefill": 1, "proxy_buffering": 0, "decode": 2.5} {
			put(seconds, "__name__", metrics.Excess, "turn", "first", "part", part)
		}
		likely := func(expr string) string {
			got, err := dashboardtest.Instant(t.Context(), store, expr, at, time.Hour)
			if err != nil || len(got) > 1 {
				t.Fatalf("%d parts (%v)", len(got), err)
			}
			if len(got) == 0 {
				return ""
			}
			return strings.TrimPrefix(got[0].Metric.Get("part"), "unknown")
		}
		effect, err := dashboardtest.Instant(t.Context(), store, recorded[rules.RecordEffect], at, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range effect {
			put(e.F, "__name__", rules.RecordEffect, "signal", e.Metric.Get("signal"))
		}
		shown, said := likely(find(t, generate(t, example()), "Targets", "G")), likely(recorded[rules.RecordPart])
		if shown != tt.want || said != tt.want {
			t.Errorf("TTFT × %v, TPOT × %v: shown is %q and said is %q, want %q", tt.ttft, tt.tpot, shown, said, tt.want)
		}
		put(1, "__name__", rules.RecordPart, "part", "connect")
		if shown := likely(find(t, generate(t, example()), "Targets", "G")); shown != "connect" {
			t.Errorf("TTFT × %v, TPOT × %v: shown is %q, although the alert says connect", tt.ttft, tt.tpot, shown)
		}
	}
}

// TestFailingTargetHasACauseAtOnce: the most frequent reason is shown when a target starts to fail, while the failures
// are still a small share of the turns.
func TestFailingTargetHasACauseAtOnce(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	put := func(at time.Time, value float64, target string, labels ...string) {
		if err := store.Put(at, value, append(labels, "target", target, "workload", "w")...); err != nil {
			t.Fatal(err)
		}
	}
	for target, consecutive := range map[string]float64{"failing": 3, "healthy": 0} {
		put(at, consecutive, target, "__name__", metrics.ConsecutiveFailed)
		put(at, 20*consecutive, target, "__name__", metrics.Failing)
		for minute := range 4 {
			put(at.Add(time.Duration(minute-3)*time.Minute), 100*float64(minute), target, "__name__", metrics.Turns)
			for reason, failed := range map[string]float64{"connect_error": 3, "truncated": 2} {
				put(at.Add(time.Duration(minute-3)*time.Minute), failed*float64(minute/3), target, "__name__", metrics.TurnFailures, "reason", reason)
			}
		}
	}
	got, err := dashboardtest.Instant(t.Context(), store, find(t, generate(t, example()), "Targets", "G"), at, time.Hour)
	if err != nil || len(got) != 1 || got[0].Metric.Get("target") != "failing" || got[0].Metric.Get("part") != "connect_error" {
		t.Errorf("%v (%v), want connect_error for failing", got, err)
	}
}
