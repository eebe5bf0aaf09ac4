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

// speculating returns outcomesConfig with server metrics.
func speculating() string {
	return strings.Replace(outcomesConfig, "model: m}", "model: m, server_metrics: {}}", 1)
}

// drafting returns a deployment whose drafter is right half of the time.
func drafting(t *testing.T) simulate.Options {
	t.Helper()
	c, err := cluster.Preset("eagle3")
	if err != nil {
		t.Fatal(err)
	}
	c.Engine.Speculation.Acceptance = .5
	return simulate.Options{Seed: 1, Model: "m", Cluster: &c, Answer: simulate.Length{Median: 50}}
}

// TestAcceptanceCollapseFires runs the sidecar against a simulated cluster with server metrics. While
// drafts are not accepted, a ticket fires.
func TestAcceptanceCollapseFires(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates four hours; make test-long runs it")
	}
	const before, during, after = 170 * time.Minute, 40 * time.Minute, 45 * time.Minute
	cfg, rules := stage.Rules(t, speculating())
	var scrapes []stage.Scrape
	synctest.Test(t, func(t *testing.T) {
		o := drafting(t)
		o.Incidents = []simulate.Incident{{Kind: cluster.Acceptance, Factor: .05, At: before, For: during}}
		scrapes = stage.Play(t, cfg, o, before+during+after)
	})
	begin := scrapes[0].At
	first, last := stage.Spell(stage.Evaluate(t, rules, scrapes), "SyntheticAcceptanceCollapse chat")
	if began := first.Sub(begin); began < before || began > before+30*time.Minute {
		t.Errorf("it fired first after %v, the collapse began after %v", began, before)
	}
	if ended := last.Sub(begin); ended < before+during || ended > before+during+after-5*time.Minute {
		t.Errorf("it fired last after %v, the collapse ended after %v", ended, before+during)
	}
}

// TestCountersOutliveTheServer: when a drafter is rolled out and the engine restarts, the exported
// counters begin at 0 and never fall.
func TestCountersOutliveTheServer(t *testing.T) {
	cfg, _ := stage.Rules(t, speculating())
	synctest.Test(t, func(t *testing.T) {
		o := drafting(t)
		plain := *o.Cluster
		plain.Engine.Speculation.Draft = 0
		again := *o.Cluster
		o.Rollouts = []simulate.Rollout{{At: 5 * time.Minute, Cluster: again}, {At: 10 * time.Minute, Cluster: again}}
		o.Cluster = &plain
		last := map[string]float64{}
		for i, s := range stage.Play(t, cfg, o, 15*time.Minute) {
			for _, sample := range s.Samples {
				name := sample.Labels.Get("__name__")
				if !strings.HasPrefix(name, "synthetic_server_") {
					continue
				}
				first, ok := last[name]
				switch {
				case strings.HasSuffix(name, "_up") && sample.Value != 1:
					t.Errorf("scrape %d: the metrics could not be read", i)
				case !ok && strings.HasSuffix(name, "_total") && sample.Value > 5000:
					t.Errorf("scrape %d: %s begins at %v", i, name, sample.Value)
				case ok && strings.HasSuffix(name, "_total") && sample.Value < first:
					t.Errorf("scrape %d: %s fell from %v to %v", i, name, first, sample.Value)
				}
				last[name] = sample.Value
			}
		}
		drafted, accepted := last["synthetic_server_spec_draft_tokens_total"], last["synthetic_server_spec_accepted_tokens_total"]
		if share := accepted / drafted; !(drafted > 1000) || share < .2 || share > .4 { // (.5 + .25 + .125) / 3
			t.Errorf("%v tokens were drafted and %v accepted", drafted, accepted)
		}
	})
}
