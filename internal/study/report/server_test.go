package report

import (
	"strings"
	"testing"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

// Variants have different addresses, but their figures stand side by side. A series that lacks
// a figure has no column for it.
func TestServerMetricsOfVariantsShareColumns(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40, 80}, Variants: []reporttest.Variant{{Name: "a", Slowdown: 1}, {Name: "b", Slowdown: 1}}})
	for _, r := range run.Results {
		for i := range r.Snapshots {
			front, worker := "http://"+r.Variant+":8000/metrics", "http://"+r.Variant+":9000/metrics"
			if r.Variant == "b" { // its addresses sort in the opposite order
				front, worker = worker, front
			}
			r.Snapshots[i].Server = []runfile.Server{
				{Source: front, Families: []string{"dynamo_frontend_queued_requests"}, Figures: map[string]float64{runfile.ServerQueueMean: 3, runfile.ServerTTFTP50: 0.2}},
				{Source: worker, Families: []string{"vllm:kv_cache_usage_perc"}, Figures: map[string]float64{runfile.ServerKVUsageMean: 0.5, runfile.ServerRunningMean: 7}},
			}
			if r.Variant == "a" {
				delete(r.Snapshots[i].Server[0].Figures, runfile.ServerTTFTP50)
			}
		}
	}
	_, text, _ := strings.Cut(rendered(t, figures.FromRuns([]*runfile.Run{run})), "## Server Metrics\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for _, want := range []string{
		"From `http://a:8000/metrics` (a), `http://b:9000/metrics` (b): found dynamo_frontend_queued_requests.",
		"| Concurrency | a Waiting mean | b Waiting mean | b TTFT p50 |",
		"| 40 | 3.0 | 3.0 | 200ms |",
		"From `http://a:9000/metrics` (a), `http://b:8000/metrics` (b): found vllm:kv_cache_usage_perc.",
		"| 80 | 50.0% | 50.0% | 7.0 | 7.0 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "n/a") || strings.Count(text, "From ") != 2 {
		t.Errorf("columns without figures, or more than two pages:\n%s", text)
	}
}

// TestServerQuantilesInTheFirstAndTheLastBucket: a quantile of which the server shows only a bound
// is printed as that bound, in the same column as the quantiles of other levels.
func TestServerQuantilesInTheFirstAndTheLastBucket(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40, 80}, Variants: []reporttest.Variant{{Name: "a", Slowdown: 1}}})
	for _, r := range run.Results {
		for i := range r.Snapshots {
			f := map[string]float64{runfile.ServerITLMean: 0.00395, runfile.ServerITLP50 + runfile.ServerAtMost: 0.01}
			if r.Level == 80 {
				f = map[string]float64{runfile.ServerITLMean: 0.02, runfile.ServerITLP50: 0.015, runfile.ServerTTFTP95 + runfile.ServerAbove: 80}
			}
			if r.Level == 80 && i > 0 {
				f[runfile.ServerITLP50+runfile.ServerAtMost] = 0.01
				delete(f, runfile.ServerITLP50)
			}
			r.Snapshots[i].Server = []runfile.Server{{Source: "http://a/metrics", Figures: f}}
		}
	}
	_, text, _ := strings.Cut(rendered(t, figures.FromRuns([]*runfile.Run{run})), "## Server Metrics\n")
	for _, want := range []string{
		"| Concurrency | TTFT p95 | ITL mean | ITL p50 |\n",
		"| 40 | n/a | 3.95ms | ≤ 10.0ms |\n",
		"| 80 | > 80000ms | 20.0ms | ≤ 10.0ms to 15.0ms |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q:\n%.900s", want, text)
		}
	}
}
