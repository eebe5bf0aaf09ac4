package demo

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
)

// learnSeed is the seed of the deployments that baselines are learned from. No trial uses it.
const learnSeed = 20000

var learnFile = flag.String("learn", "", "file for the baselines of the healthy deployments of the demo")

// TestLearnBaselines writes baselines.json with -learn=FILE. It learns from two hours of each deployment
// in virtual time.
func TestLearnBaselines(t *testing.T) {
	if *learnFile == "" {
		t.Skip("takes a minute: make demo-baselines")
	}
	var file Baselines
	for _, target := range healthyTargets() {
		b := learn(t, target)
		b.State.Target = target.Baseline
		file = append(file, b)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*learnFile, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestBaselinesFitTheDeployments checks that baselines.json fits the healthy deployments and has no
// other entries.
func TestBaselinesFitTheDeployments(t *testing.T) {
	var file Baselines
	if err := json.Unmarshal(baselinesJSON, &file); err != nil {
		t.Fatal(err)
	}
	targets := healthyTargets()
	if len(file) != len(targets) {
		t.Errorf("%d baselines for %d deployments; make demo-baselines", len(file), len(targets))
	}
	for i, target := range targets {
		t.Run(target.Baseline, func(t *testing.T) {
			if testing.Short() && i > 0 {
				t.Skip("one deployment is enough for a quick run; make test-long runs all")
			}
			t.Parallel()
			known, err := LoadBaselines([]Target{target})
			if err != nil {
				t.Fatal(err)
			}
			p := demoRun{targets: []Target{target}, baselines: known, length: 6 * time.Minute}.play(t)
			ratios := p.ratios(2*time.Minute, 6*time.Minute)
			if len(ratios) != 4 {
				t.Errorf("ratios of %d signals, want 4: %v", len(ratios), ratios)
			}
			for signal, ratio := range ratios {
				if ratio < 0.93 || ratio > 1.07 {
					t.Errorf("%s is %.3f times its baseline without a fault; make demo-baselines", signal, ratio)
				}
			}
		})
	}
}

// Learning skips settling at the start. A day is not a multiple of learnFor, so that repeating it gives
// no daily season.
const settling, learnFor = 10 * time.Minute, 130 * time.Minute

// learn learns the baseline of a target from healthy time.
func learn(t *testing.T, target Target) targetBaseline {
	t.Helper()
	target.Options.Incidents, target.Options.Rollouts, target.Options.Seed = nil, nil, learnSeed
	p := demoRun{targets: []Target{target}, length: settling + learnFor + time.Minute, scrapeInterval: time.Minute}.play(t)
	out := targetBaseline{State: p.learned}
	first, last := p.at(settling), p.scrapes[len(p.scrapes)-1]
	for k, kind := range probe.TurnKinds() {
		labels := []string{metrics.LabelTurn, string(kind)}
		increase := func(metric string) float64 { return sum(last, metric, labels...) - sum(first, metric, labels...) }
		out.Cached[k] = round(increase(metrics.CachedPromptTokens)/increase(metrics.PromptTokens), 3)
		for i, signal := range sink.Signals() {
			out.Minutes[k][i] = p.minutes(append(labels, metrics.LabelSignal, string(signal)))
		}
	}
	return out
}

// minutes returns the minutes of a signal after settling.
func (p recording) minutes(labels []string) [][2]float64 {
	var out [][2]float64
	for i, s := range p.scrapes[1:] {
		previous := p.scrapes[i]
		increase := func(metric string) float64 { return sum(s, metric, labels...) - sum(previous, metric, labels...) }
		if previous.At.Sub(p.began) < settling {
			continue
		}
		turns := increase(metrics.SignalTurns)
		out = append(out, [2]float64{turns, round(increase(metrics.SignalLog2)/turns*math.Ln2-math.Log(1e6), 4)})
	}
	return out
}

// round rounds to a number of decimal places.
func round(v float64, digits int) float64 {
	return math.Round(v*math.Pow10(digits)) / math.Pow10(digits)
}

// healthyTargets returns the deployments of all scenarios without their events, one for each baseline.
func healthyTargets() []Target {
	var out []Target
	for _, s := range scenarios() {
		for _, target := range s.Targets {
			target.Options.Incidents, target.Options.Rollouts = nil, nil
			if !slices.ContainsFunc(out, func(o Target) bool { return o.Baseline == target.Baseline }) {
				out = append(out, target)
			}
		}
	}
	slices.SortFunc(out, func(a, b Target) int { return strings.Compare(a.Baseline, b.Baseline) })
	return out
}
