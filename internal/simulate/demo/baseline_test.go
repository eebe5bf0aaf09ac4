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

// learnSeed is of deployments that are learned from, and of none that is judged.
const learnSeed = 20000

var learn = flag.String("learn", "", "file for what the demo's deployments are like on a day on which all is well")

// TestLearnBaselines writes, with -learn=FILE, the baselines that the demo
// starts with: two hours of each of its deployments, in virtual time.
func TestLearnBaselines(t *testing.T) {
	if *learn == "" {
		t.Skip("hours of each deployment take a minute: make demo-baselines")
	}
	var file Usual
	for _, target := range healthyTargets() {
		one := learnedOf(t, target)
		one.State.Target = target.Usual
		file = append(file, one)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*learn, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDemoBaselinesAreThose checks that what the demo starts with is what its
// deployments are like, and that there is nothing else in the file.
func TestDemoBaselinesAreThose(t *testing.T) {
	var file Usual
	if err := json.Unmarshal(baselines, &file); err != nil {
		t.Fatal(err)
	}
	targets := healthyTargets()
	if len(file) != len(targets) {
		t.Errorf("there are %d baselines for %d deployments; make demo-baselines", len(file), len(targets))
	}
	for i, target := range targets {
		t.Run(target.Usual, func(t *testing.T) {
			if testing.Short() && i > 0 {
				t.Skip("one deployment is enough for a quick run; make test-long runs all")
			}
			t.Parallel()
			usual, err := Baselines([]Target{target})
			if err != nil {
				t.Fatal(err)
			}
			p := demoRun{targets: []Target{target}, baselines: usual, length: 6 * time.Minute}.play(t)
			ratios := p.ratios(2*time.Minute, 6*time.Minute)
			if len(ratios) != 4 {
				t.Errorf("there are ratios of %d signals, want 4: %v", len(ratios), ratios)
			}
			for what, ratio := range ratios {
				if ratio < 0.93 || ratio > 1.07 {
					t.Errorf("%s is %.3f times its baseline while all is well; make demo-baselines", what, ratio)
				}
			}
		})
	}
}

// settling is left out of what is learned. learnFor is no part of a day: laid out
// again and again it is no daily season.
const settling, learnFor = 10 * time.Minute, 130 * time.Minute

// learnedOf is what a healthy time of a target teaches.
func learnedOf(t *testing.T, target Target) Learned {
	t.Helper()
	target.Options.Incidents, target.Options.Rollouts, target.Options.Seed = nil, nil, learnSeed
	p := demoRun{targets: []Target{target}, length: settling + learnFor + time.Minute, every: time.Minute}.play(t)
	out := Learned{State: p.learned}
	first, last := p.at(settling), p.scrapes[len(p.scrapes)-1]
	for k, kind := range probe.TurnKinds() {
		of := []string{metrics.LabelTurn, string(kind)}
		grown := func(metric string) float64 { return sum(last, metric, of...) - sum(first, metric, of...) }
		out.Cached[k] = rounded(grown(metrics.CachedPromptTokens)/grown(metrics.PromptTokens), 3)
		for i, signal := range sink.Signals() {
			out.Minutes[k][i] = p.minutes(append(of, metrics.LabelSignal, string(signal)))
		}
	}
	return out
}

// minutes are those of a signal between the scrapes once all has settled.
func (p played) minutes(of []string) [][2]float64 {
	var out [][2]float64
	for i, s := range p.scrapes[1:] {
		before := p.scrapes[i]
		grown := func(metric string) float64 { return sum(s, metric, of...) - sum(before, metric, of...) }
		if before.At.Sub(p.began) < settling {
			continue
		}
		turns := grown(metrics.SignalTurns)
		out = append(out, [2]float64{turns, rounded(grown(metrics.SignalLog2)/turns*math.Ln2-math.Log(1e6), 4)})
	}
	return out
}

// rounded keeps some digits behind the point.
func rounded(v float64, digits int) float64 {
	return math.Round(v*math.Pow10(digits)) / math.Pow10(digits)
}

// healthyTargets are the deployments of all scenarios with nothing that
// happens to them, one for each baseline.
func healthyTargets() []Target {
	var out []Target
	for _, s := range scenarios() {
		for _, target := range s.Targets {
			target.Options.Incidents, target.Options.Rollouts = nil, nil
			if !slices.ContainsFunc(out, func(o Target) bool { return o.Usual == target.Usual }) {
				out = append(out, target)
			}
		}
	}
	slices.SortFunc(out, func(a, b Target) int { return strings.Compare(a.Usual, b.Usual) })
	return out
}
