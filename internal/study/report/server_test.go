package report

import (
	"strings"
	"testing"

	"synthetic/internal/serverside"
	"synthetic/tools/testkit/reporttest"
)

// TestServerMetrics: variants have different addresses, but their figures stand side by side. A series that lacks a
// figure has no column for it. A quantile of which the server shows only a bound is printed as that bound.
func TestServerMetrics(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40, 80}, Variants: []reporttest.Variant{{Name: "a", Slowdown: 1}, {Name: "b", Slowdown: 1}}})
	for _, r := range run.Results {
		for i := range r.Snapshots {
			f := map[string]float64{serverside.QueueMean: 3, serverside.TTFTP50: 0.2, serverside.ITLP50: 0.015}
			if r.Variant == "a" {
				delete(f, serverside.TTFTP50)
			}
			if r.Level == 40 || i > 0 {
				delete(f, serverside.ITLP50)
				f[serverside.ITLP50+serverside.AtMost] = 0.01
			}
			r.Snapshots[i].Server = []serverside.Summary{{Source: "http://" + r.Variant + ":8000/metrics", Figures: f}}
		}
	}
	_, text, _ := strings.Cut(rendered(t, FromRun(run)), "### Server Metrics\n")
	for _, want := range []string{
		"| Concurrency | a Waiting mean | b Waiting mean | b Server TTFT p50 | a Server ITL p50 | b Server ITL p50 |",
		"| 40 | 3.0 | 3.0 | 200ms | ≤ 10.0ms | ≤ 10.0ms |", "| 80 | 3.0 | 3.0 | 200ms | ≤ 10.0ms to 15.0ms | ≤ 10.0ms to 15.0ms |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q:\n%.900s", want, text)
		}
	}
}
