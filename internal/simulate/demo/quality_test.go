package demo

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

var (
	quality      = flag.String("quality", "", "file for the tables of all faults; runs every trial")
	qualitySeeds = flag.Int("quality.seeds", 0, "hours of the healthy demo, each with its own seed; 0 means 20 minutes")
	qualityFirst = flag.Uint64("quality.first", 1, "the first of these seeds")
)

// trialSeeds is the number of runs per fault for the tables.
const trialSeeds = 3

// TestDemoQuality injects every fault into the demo and checks that the right alerts fire in time.
// With -quality=FILE it runs all trials and writes their tables. Without it, it runs only the short
// trials, once each.
func TestDemoQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many deployments; make test-long runs it")
	}
	var p qualityPage
	t.Run("drafter", func(t *testing.T) {
		for _, c := range changes() {
			p.levels = append(p.levels, levelRow{change: c})
		}
		for i := range p.levels {
			row := &p.levels[i]
			judge(t, row.change.trial(), &row.verdict)
		}
	})
	t.Run("fault", func(t *testing.T) {
		trials := faults(t)
		p.faults = make([]verdict, len(trials))
		for i, c := range trials {
			judge(t, c, &p.faults[i])
		}
	})
	if *quality != "" && !t.Failed() {
		if err := os.WriteFile(*quality, p.markdown(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// judge runs a trial as a subtest.
func judge(t *testing.T, c trial, v *verdict) {
	t.Run(c.name, func(t *testing.T) {
		seeds := trialSeeds
		if *quality == "" {
			if seeds = 1; c.learnsBaseline || c.length > 6*time.Minute {
				t.Skip("takes long: make demo-quality")
			}
		}
		t.Parallel()
		*v = c.judge(t, seeds)
		t.Logf("first pages %v; wanted alerts %v; ratios to the baselines %v", v.firstPages, v.found, v.ratios)
	})
}

// TestHealthyDemoNeverPages runs the healthy demo for an hour per seed of -quality.seeds, or once for
// 20 minutes. The seed changes the start and the length of conversations, and the load.
func TestHealthyDemoNeverPages(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a long time; make test-long runs it")
	}
	seeds, length := *qualitySeeds, time.Hour
	if seeds == 0 {
		seeds, length = 1, 20*time.Minute
	}
	for seed := *qualityFirst; seed < *qualityFirst+uint64(seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := runOf(t, "healthy", seed, length).play(t)
			// Half a conversation per second, with four turns on average.
			if turns := p.turns(); turns < 0.8*2*length.Seconds() {
				t.Errorf("only %v turns ended within %v", turns, length)
			}
			for _, alert := range p.pages(t) {
				report := t.Errorf
				if alert.severity == "ticket" { // with little history, five turns over an objective cause one
					report = t.Logf
				}
				report("the healthy demo has the alert %s: %s", alert, alert.text)
			}
		})
	}
}
