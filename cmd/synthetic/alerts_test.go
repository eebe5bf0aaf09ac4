package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/promtest"
)

// alertsConfig probes a deployment twelve conversations a minute.
const alertsConfig = `
targets:
  - {name: chat, base_url: http://deployment/v1, model: m}
workloads:
  - name: chat
    turns: {min: 3, max: 3}
    prompt_tokens: 200
    followups: {tokens: 20}
    max_output_tokens: 6
    think_time: {min: 100ms, max: 1s}
    timeouts: {first_token: 10s, stall: 5s, total: 20s}
traffic:
  - {targets: [chat], workload: chat, arrival: {process: poisson, rate: 0.2}, max_concurrency: 20}
slos:
  - {name: ttft, sli: ttft, threshold: 1s, objective: 99%}
  - {name: availability, sli: availability, objective: 99.5%}
`

// TestFaultsFireAlerts lets the real sidecar probe the simulated deployment in
// virtual time, breaks the deployment after an hour, repairs it half an hour
// later, and evaluates the generated rules on what was scraped.
func TestFaultsFireAlerts(t *testing.T) {
	const healthy, broken, after = time.Hour, 30 * time.Minute, 90 * time.Minute
	update := func(change func(*simulate.Options)) func(*simulate.Deployment, *pipes) {
		return func(d *simulate.Deployment, _ *pipes) { d.Update(change) }
	}
	well := update(func(o *simulate.Options) { *o = healthyOptions() })
	for _, tc := range []struct {
		name   string
		fault  func(*simulate.Deployment, *pipes)
		alert  string
		within time.Duration
	}{
		{"slow first token", update(func(o *simulate.Options) { o.FirstToken.Median = 3 * time.Second }), "SyntheticSLOFastBurn chat chat ttft", 10 * time.Minute},
		{"hang", update(func(o *simulate.Options) { o.Faults.Hang = 1 }), "SyntheticTargetDown chat chat", 10 * time.Minute},
		{"cut", update(func(o *simulate.Options) { o.Faults.Cut = 1 }), "SyntheticTargetDown chat chat", 10 * time.Minute},
		{"500", update(func(o *simulate.Options) { o.Faults.HTTP500 = 1 }), "SyntheticTargetDown chat chat", 10 * time.Minute},
		{"429", update(func(o *simulate.Options) { o.Faults.HTTP429 = 1 }), "SyntheticTargetBusy chat chat", 15 * time.Minute},
		{"nothing", func(*simulate.Deployment, *pipes) {}, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, ruleFile := configAndRules(t, alertsConfig)
			var scrapes []scrape
			synctest.Test(t, func(t *testing.T) {
				scrapes = play(t, cfg, healthyOptions(), healthy+broken+after, act{healthy, tc.fault}, act{healthy + broken, well})
			})
			firing := evaluate(t, ruleFile, scrapes)
			begin := scrapes[0].at.Add(healthy)
			first, last := spell(firing, tc.alert)
			switch {
			case tc.alert == "":
				for at, names := range firing {
					if len(names) > 0 {
						t.Errorf("a healthy deployment fires %v at %v", names, at)
					}
				}
			case first.IsZero():
				t.Errorf("%q never fired; fired: %v", tc.alert, everFired(firing))
			case first.Before(begin) || first.After(begin.Add(tc.within)):
				t.Errorf("%q fired %v after the fault, want within %v", tc.alert, first.Sub(begin), tc.within)
			case last.After(begin.Add(broken + after - 10*time.Minute)):
				t.Errorf("%q still fires %v after the repair", tc.alert, last.Sub(begin.Add(broken)))
			default:
				t.Logf("%s: fired after %v, resolved %v after the repair; all: %v", tc.alert, first.Sub(begin), last.Sub(begin.Add(broken)), everFired(firing))
			}
		})
	}
}

func healthyOptions() simulate.Options {
	return simulate.Options{
		Seed: 1, Model: "m",
		FirstToken: simulate.Delay{Median: 200 * time.Millisecond, Sigma: 0.3},
		InterToken: simulate.Delay{Median: 20 * time.Millisecond, Sigma: 0.2},
		Answer:     simulate.Length{Median: 6},
	}
}

// configAndRules returns the configuration and the rule file that
// "synthetic generate rules" writes for it.
func configAndRules(t *testing.T, text string) (*config.Config, []byte) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "synthetic.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := newBuffer(), newBuffer()
	if code := run(t.Context(), []string{"generate", "rules", "--config.file=" + file, "--output.dir=" + dir}, out, errs); code != 0 {
		t.Fatalf("generating rules: %s", errs)
	}
	rules, err := os.ReadFile(filepath.Join(dir, "synthetic-rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, rules
}

// evaluate runs the rules over the scrapes and returns what fired when.
func evaluate(t *testing.T, ruleFile []byte, scrapes []scrape) map[time.Time][]string {
	t.Helper()
	server := promtest.New(t, ruleFile, time.Minute)
	firing := map[time.Time][]string{}
	for _, s := range scrapes {
		server.Scrape(s.at, "prober", s.samples)
		server.Evaluate(s.at)
		firing[s.at] = server.Firing("target", "workload", "slo")
	}
	return firing
}

// spell returns when an alert fired first and last.
func spell(firing map[time.Time][]string, alert string) (first, last time.Time) {
	for at, names := range firing {
		if !slices.Contains(names, alert) {
			continue
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}

func everFired(firing map[time.Time][]string) string {
	seen := map[string]bool{}
	for _, names := range firing {
		for _, n := range names {
			seen[n] = true
		}
	}
	return strings.Join(slices.Sorted(func(yield func(string) bool) {
		for n := range seen {
			if !yield(n) {
				return
			}
		}
	}), ", ")
}
