package demo

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
)

// learnSeed is the seed of the deployment that the baseline is learned from. No other test uses it.
const learnSeed = 20000

var learnFile = flag.String("learn", "", "file for the baseline of the healthy deployment of the demo")

// TestLearnBaseline writes baseline.json with -learn=FILE. It learns from two hours in virtual time.
func TestLearnBaseline(t *testing.T) {
	if *learnFile == "" {
		t.Skip("takes a minute: make demo-baseline")
	}
	text, err := json.Marshal(learn(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*learnFile, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestBaselineFits checks that baseline.json fits the healthy deployment.
func TestBaselineFits(t *testing.T) {
	known, err := LoadBaseline()
	if err != nil {
		t.Fatal(err)
	}
	healthy := Deployment(1)
	healthy.Incidents = nil
	ratios := demoRun{options: healthy, baseline: known, length: 6 * time.Minute}.play(t).ratios(2*time.Minute, 6*time.Minute)
	if len(ratios) != 4 {
		t.Errorf("ratios of %d signals, want 4: %v", len(ratios), ratios)
	}
	for signal, ratio := range ratios {
		if ratio < 0.93 || ratio > 1.07 {
			t.Errorf("%s is %.3f times its baseline without a fault; make demo-baseline", signal, ratio)
		}
	}
}

// Learning skips settling at the start. A day is not a multiple of learnFor, so that repeating it gives
// no daily season.
const settling, learnFor = 10 * time.Minute, 130 * time.Minute

// learn learns the baseline from healthy time.
func learn(t *testing.T) Baseline {
	t.Helper()
	healthy := Deployment(learnSeed)
	healthy.Incidents = nil
	p := demoRun{options: healthy, length: settling + learnFor + time.Minute, scrapeInterval: time.Minute}.play(t)
	out := Baseline{State: p.learned}
	for k, kind := range probe.TurnKinds() {
		labels := []string{metrics.LabelTurn, string(kind)}
		for i, signal := range fleet.Signals() {
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
