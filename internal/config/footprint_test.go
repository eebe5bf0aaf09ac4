package config

import (
	"math"
	"testing"

	"synthetic/internal/probe/workload"
)

// TestFootprint checks the expected tokens. The default traffic has 2,851 conversations a day of
// 3 to 5 turns, without bursts.
func TestFootprint(t *testing.T) {
	conversation := workload.Tokens{Prompt: 500 + 688 + 876 + 2./3*1064 + 1252./3, Cached: 628 + 816 + 2./3*1004 + 1192./3, Output: 4 * 128}
	tests := map[string]struct {
		text     string
		want     workload.Tokens
		known    bool
		budgeted bool
	}{
		"default": {`targets: [{base_url: "http://a:8000"}]`, conversation.Times(2851.2), true, false},
		"two targets": {
			`targets: [{base_url: "http://a:8000"}, {base_url: "http://b:8000"}]`,
			conversation.Times(2 * 2851.2), true, false,
		},
		"a budget of a day": {
			"targets: [{base_url: \"http://a:8000\"}]\ntraffic: [{token_budget: 1000000/1d}]",
			conversation.Times(1e6 / conversation.Sum()), true, true,
		},
		"a budget of a minute": {
			"targets: [{base_url: \"http://a:8000\"}]\ntraffic: [{token_budget: 5000/1m}]",
			conversation.Times(7.2e6 / conversation.Sum()), true, true,
		},
		"a budget that is never used up": {
			"targets: [{base_url: \"http://a:8000\"}]\ntraffic: [{token_budget: 1000000000/1d}]",
			conversation.Times(2851.2), true, false,
		},
		"names are as many as there are": {
			`targets: [{base_url: "http://a:8000", models: [llama, qwen]}]`,
			conversation.Times(2 * 2851.2), true, false,
		},
		"a closed loop": {
			"targets: [{base_url: \"http://a:8000\"}]\ntraffic: [{arrival: {process: closed, concurrency: 2}}]",
			workload.Tokens{}, false, false,
		},
		"a closed loop with a budget": {
			"targets: [{base_url: \"http://a:8000\"}]\ntraffic: [{arrival: {process: closed, concurrency: 2}, token_budget: 1000000/1d}]",
			conversation.Times(1e6 / conversation.Sum()), true, true,
		},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 0.001*b }
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, err := Parse("x.yml", []byte(tc.text), ".")
			if err != nil {
				t.Fatal(err)
			}
			day, known := cfg.Footprint()
			if !near(day.Prompt, tc.want.Prompt) || !near(day.Cached, tc.want.Cached) || !near(day.Output, tc.want.Output) {
				t.Errorf("a day takes %+v, want %+v", day, tc.want)
			}
			if b := cfg.Jobs[0].Footprint.Bursts.Sum(); tc.budgeted && b != 0 || !tc.budgeted && tc.known && !near(b, cfg.Jobs[0].Footprint.Day.Sum()*(0.2-0.033)*8/60/0.033) {
				t.Errorf("bursts add %v to %v", b, cfg.Jobs[0].Footprint.Day.Sum())
			}
			if known != tc.known || cfg.Jobs[0].Footprint.LimitedByBudget != tc.budgeted {
				t.Errorf("known %v, budgeted %v", known, cfg.Jobs[0].Footprint.LimitedByBudget)
			}
		})
	}
}
