package sidecar_test

import (
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// alertsConfig probes a deployment with twelve conversations a minute.
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

// befall makes a share of the requests meet an incident.
func befall(kind simulate.IncidentKind, share float64) func(*simulate.Options) {
	return func(o *simulate.Options) { o.Incidents = []simulate.Incident{{Kind: kind, Share: share}} }
}

// TestFaultsFireAlerts runs the sidecar against a simulated deployment, breaks the deployment after
// half an hour, repairs it a quarter of an hour later, and evaluates the generated rules on the scraped series.
func TestFaultsFireAlerts(t *testing.T) {
	const healthy, broken, after = 30 * time.Minute, 15 * time.Minute, 75 * time.Minute
	update := func(change func(*simulate.Options)) func(*simulate.Deployment, *simulate.Pipes) {
		return func(d *simulate.Deployment, _ *simulate.Pipes) { d.Update(change) }
	}
	well := update(func(o *simulate.Options) { *o = healthyOptions() })
	for _, tc := range []struct {
		name   string
		fault  func(*simulate.Deployment, *simulate.Pipes)
		alert  string
		within time.Duration
	}{
		{"slow first token", update(func(o *simulate.Options) { o.FirstToken.Median = 3 * time.Second }), "SyntheticSLOFastBurn chat chat ttft", 10 * time.Minute},
		{"hang", update(befall(simulate.NoAnswer, 1)), "SyntheticTargetDown chat chat", 10 * time.Minute},
		{"cut", update(befall(simulate.CutStream, 1)), "SyntheticTargetDown chat chat", 10 * time.Minute},
		{"500", update(befall(simulate.ErrorStatus, 1)), "SyntheticTargetDown chat chat", 10 * time.Minute},
		{"429", update(befall(simulate.BusyStatus, 1)), "SyntheticTargetBusy chat chat", 15 * time.Minute},
		{"nothing", func(*simulate.Deployment, *simulate.Pipes) {}, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if testing.Short() && tc.name != "slow first token" {
				t.Skip("one fault is enough for a quick run; make test-long runs all")
			}
			cfg, ruleFile := stage.Rules(t, alertsConfig)
			var scrapes []stage.Scrape
			synctest.Test(t, func(t *testing.T) {
				scrapes = stage.Play(t, cfg, healthyOptions(), healthy+broken+after, stage.Act{After: healthy, Do: tc.fault}, stage.Act{After: healthy + broken, Do: well})
			})
			firing := stage.Evaluate(t, ruleFile, scrapes)
			begin := scrapes[0].At.Add(healthy)
			first, last := stage.Spell(firing, tc.alert)
			switch {
			case tc.alert == "":
				for at, names := range firing {
					if len(names) > 0 {
						t.Errorf("a healthy deployment fires %v at %v", names, at)
					}
				}
			case first.IsZero():
				t.Errorf("%q never fired; fired: %v", tc.alert, stage.EverFired(firing))
			case first.Before(begin) || first.After(begin.Add(tc.within)):
				t.Errorf("%q fired %v after the fault, want within %v", tc.alert, first.Sub(begin), tc.within)
			case last.After(begin.Add(broken + after - 10*time.Minute)):
				t.Errorf("%q still fires %v after the repair", tc.alert, last.Sub(begin.Add(broken)))
			default:
				t.Logf("%s: fired after %v, resolved %v after the repair; all: %v", tc.alert, first.Sub(begin), last.Sub(begin.Add(broken)), stage.EverFired(firing))
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
