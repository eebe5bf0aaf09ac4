package sidecar_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/tools/testkit/stage"
)

// outcomesConfig probes a cluster with twenty conversations a minute.
const outcomesConfig = `
targets:
  - {name: chat, base_url: http://deployment/v1, model: m}
workloads:
  - name: chat
    turns: {min: 2, max: 2}
    prompt_tokens: 500
    starters: 0
    followups: {tokens: 20}
    max_output_tokens: 60
    think_time: {min: 100ms, max: 1s}
    timeouts: {first_token: 20s, stall: 5s, total: 30s}
traffic:
  - {targets: [chat], workload: chat, arrival: {process: poisson, rate: 0.33}, max_concurrency: 40}
`

// TestIncidentsShowAsOutcomes runs the sidecar against a simulated cluster. An incident of four minutes
// causes failures with its reason, and there are no failures before and after it.
func TestIncidentsShowAsOutcomes(t *testing.T) {
	for _, tc := range []struct {
		incident string
		change   func(*simulate.Options)
		reason   string
	}{
		{"http_500,share=0.5", nil, "http_5xx"},
		{"http_429,share=0.5", nil, "http_429"},
		{"no_answer,share=0.5", nil, "timeout_first_token"},
		{"cut,share=0.5", nil, "truncated"},
		{"stall,share=0.5", nil, "stall"},
		{"error_event,share=0.5", nil, "error_event"},
		{"hang,workers=1", nil, "timeout_first_token"},
		{"hang", func(o *simulate.Options) { o.Cluster.Frontend.Deadline = 10 * time.Second }, "http_5xx"},
		{"worker_loss", nil, "http_5xx"},
		{"slow_decode,factor=150", nil, "timeout_first_token"},
		{"slow_decode,factor=30", nil, "timeout_total"},
		{"slow_decode,factor=30", func(o *simulate.Options) { o.Cluster.Frontend.Deadline = 15 * time.Second }, "error_event"},
		{"slow_prefill,factor=500", nil, "timeout_first_token"},
	} {
		t.Run(tc.incident+" "+tc.reason, func(t *testing.T) {
			const before, during, after = 2 * time.Minute, 4 * time.Minute, 2 * time.Minute
			incident, err := simulate.ParseIncident(tc.incident + ",at=2m,for=4m")
			if err != nil {
				t.Fatal(err)
			}
			cfg, _ := stage.Rules(t, outcomesConfig)
			var scrapes []stage.Scrape
			synctest.Test(t, func(t *testing.T) {
				c, err := cluster.Preset("trtllm-rr")
				if err != nil {
					t.Fatal(err)
				}
				o := simulate.Options{Seed: 1, Model: "m", Cluster: &c, Answer: simulate.Length{Median: 50}, Incidents: []simulate.Incident{incident}}
				if tc.change != nil {
					tc.change(&o)
				}
				scrapes = stage.Play(t, cfg, o, before+during+after)
			})
			failed := func(i int, reason string) (n float64) {
				for _, s := range scrapes[i].Samples {
					if strings.HasPrefix(s.Labels.Get("__name__"), "synthetic_turn_failures_total") && (reason == "" || s.Labels.Get("reason") == reason) {
						n += s.Value
					}
				}
				return n
			}
			at := func(d time.Duration) int { return int(d/stage.ScrapeEvery) - 1 }
			if n := failed(at(before), ""); n > 0 {
				t.Errorf("%v failures before the incident", n)
			}
			if n := failed(at(before+during), tc.reason); n < 10 {
				t.Errorf("%v failures for %s during the incident, %v for any reason", n, tc.reason, failed(at(before+during), ""))
			}
			// Turns that were in flight at the end may fail a little later.
			if n := failed(at(before+during+after), "") - failed(at(before+during+time.Minute), ""); n > 0 {
				t.Errorf("%v failures a minute after the incident and later", n)
			}
		})
	}
}
