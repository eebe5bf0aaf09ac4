package dashboard_test

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/dashboard"
	"synthetic/tools/testkit/dashboardtest"
)

// TestFigures compares the panels with the script: of 46 conversations of two turns, 9 failed in the second
// turn, 5 others were too slow and 8 had a TTFT of more than a second.
func TestFigures(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	end := fill(t, store, start, "prober-0:9900")
	ds := generate(t, example())

	for _, tc := range []struct {
		panel, ref string
		want       map[string]float64 // by the slo label, or "" for every series
	}{
		{"Targets", "E", map[string]float64{"vllm": 2. / 19, "": 0.1}}, // of the last five minutes
		{"Cached share of prompt tokens", "A", map[string]float64{"": 0.75}},
		{"What servers do not say", "A", map[string]float64{"": 0}},
		{"What servers do not say", "D", map[string]float64{"": 0.25}},
		{"Conversations per minute", "A", map[string]float64{"": 8}},
		{"Conversations per minute", "B", map[string]float64{"": 12}},
	} {
		t.Run(tc.panel+" "+tc.ref, func(t *testing.T) {
			got, err := dashboardtest.Instant(t.Context(), store, find(t, ds, tc.panel, tc.ref), end, end.Sub(start))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				t.Fatal("no series")
			}
			if _, every := tc.want[""]; !every && len(got) != len(tc.want) {
				t.Errorf("%d series, want %d", len(got), len(tc.want))
			}
			for _, s := range got {
				if math.IsNaN(s.F) { // a row of a table without this value
					s.F = 0
				}
				want, ok := tc.want[s.Metric.Get("slo")]
				if of, known := tc.want[s.Metric.Get("target")]; known {
					want = of
				}
				if !ok || math.Abs(s.F-want) > 1e-6 {
					t.Errorf("%s is %v, want %v", s.Metric, s.F, want)
				}
			}
		})
	}
}

// find returns the query of a panel.
func find(t *testing.T, ds []dashboard.Dashboard, panel, ref string) string {
	t.Helper()
	queries, err := dashboardtest.Queries(ds)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		if q.Panel == panel && q.Ref == ref {
			return q.Expr
		}
	}
	t.Fatalf("no query %s in a panel %q", ref, panel)
	return ""
}

// TestBudgetLeft: without the recorded series, 5 bad turns of 1,000 spend half of the budget of an objective of 99 %. 200
// turns are too few. 200 bad turns spend it many times, of which -100 % says enough. The recorded series of the target that has the least counts first.
func TestBudgetLeft(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	put := func(ago time.Duration, name string, value float64, labels ...string) {
		if err := store.Put(at.Add(-ago), value, append(labels, "__name__", name, "workload", "w")...); err != nil {
			t.Fatal(err)
		}
	}
	for name, counts := range map[string][2]float64{"half": {1000, 5}, "few": {200, 5}, "recorded": {1000, 5}, "spent": {1000, 200}} {
		put(0, "synthetic_slo_objective_ratio", 0.99, "slo", name)
		for i, ago := range []time.Duration{time.Hour, 0} {
			put(ago, "synthetic_slo_turns_total", float64(i)*counts[0], "slo", name, "target", "a", "turn", "first")
			put(ago, "synthetic_slo_violations_total", float64(i)*counts[1], "slo", name, "target", "a", "turn", "first")
		}
	}
	put(0, "target_workload_slo:synthetic_slo_budget_remaining:ratio", 0.9, "slo", "recorded", "target", "a")
	put(0, "target_workload_slo:synthetic_slo_budget_remaining:ratio", 0.2, "slo", "recorded", "target", "b")
	got, err := dashboardtest.Instant(t.Context(), store, find(t, generate(t, example()), "Error budget left", "A"), at, time.Hour)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v (%v), want three objectives", got, err)
	}
	for _, s := range got {
		if want := map[string]float64{"half": 0.5, "recorded": 0.2, "spent": -1}[s.Metric.Get("slo")]; math.Abs(s.F-want) > 1e-6 {
			t.Errorf("%s has %v of its budget left, want %v", s.Metric.Get("slo"), s.F, want)
		}
	}
}

// TestServersOfEachJob: servers of two jobs are two lines, because one of them may be another deployment, and an older
// vLLM's name of the KV cache is known.
func TestServersOfEachJob(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	for _, s := range []struct {
		name, job, instance string
		value               float64
	}{
		{"vllm:num_requests_running", "chat", "a", 3}, {"vllm:num_requests_running", "chat", "b", 4}, {"sglang:num_running_reqs", "code", "a", 5},
		{"vllm:gpu_cache_usage_perc", "chat", "a", 0.5}, {"sglang:token_usage", "code", "a", 0.25}, {"sglang:cache_hit_rate", "code", "a", 0.75},
	} {
		if err := store.Put(at, s.value, "__name__", s.name, "job", s.job, "instance", s.instance); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		panel, ref string
		want       map[string]float64
	}{
		{"Requests", "C", map[string]float64{"chat": 7, "code": 5}},
		{"KV cache, hit rate", "B", map[string]float64{"chat": 0.5, "code": 0.25}},
		{"KV cache, hit rate", "C", map[string]float64{"code": 0.75}},
	} {
		got, err := dashboardtest.Instant(t.Context(), store, find(t, generate(t, example()), tt.panel, tt.ref), at, time.Hour)
		if err != nil || len(got) != len(tt.want) {
			t.Errorf("%s %s: %v (%v), want %v", tt.panel, tt.ref, got, err, tt.want)
		}
		for _, s := range got {
			if want, ok := tt.want[s.Metric.Get("job")]; !ok || s.F != want {
				t.Errorf("%s %s: %v, want %v", tt.panel, tt.ref, s, tt.want)
			}
		}
	}
}
