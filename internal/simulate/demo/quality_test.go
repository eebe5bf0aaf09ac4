package demo

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

var (
	quality      = flag.String("quality", "", "file for the tables of all faults, measured in full")
	qualitySeeds = flag.Int("quality.seeds", 0, "hours of the healthy demo, each with a seed of its own; 0 means a part of one")
	qualityFirst = flag.Uint64("quality.first", 1, "the first of these seeds")
)

// trialSeeds is how often each fault is injected for the tables.
const trialSeeds = 3

// TestDemoQuality lets go wrong in the demo what can, and wants the alerts that
// name it in time. With -quality=FILE all of it is measured, and written down;
// otherwise only what is told within minutes, once each.
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
			judged(t, row.change.drafted(), &row.verdict)
		}
	})
	t.Run("fault", func(t *testing.T) {
		trials := faults(t)
		p.faults = make([]verdict, len(trials))
		for i, c := range trials {
			judged(t, c, &p.faults[i])
		}
	})
	if *quality != "" && !t.Failed() {
		if err := os.WriteFile(*quality, p.markdown(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// judged judges a trial in a test of its own.
func judged(t *testing.T, c trial, v *verdict) {
	t.Run(c.name, func(t *testing.T) {
		seeds := trialSeeds
		if *quality == "" {
			if seeds = 1; c.learns || c.lasts > 6*time.Minute {
				t.Skip("takes long: make demo-quality")
			}
		}
		t.Parallel()
		*v = c.judge(t, seeds)
		t.Logf("first page %v; wanted and told %v; changed by %v", v.paged, v.told, v.ratios)
	})
}

// TestHealthyDemoPagesNever lets an hour of the healthy demo go by for each
// seed, or, without -quality.seeds, a part of one. Seeds differ in all that is
// drawn: when conversations start, how long they are, and what the other clients
// do.
func TestHealthyDemoPagesNever(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a long time; make test-long runs it")
	}
	seeds, length := *qualitySeeds, time.Hour
	if seeds == 0 {
		seeds, length = 1, 20*time.Minute
	}
	for seed := *qualityFirst; seed < *qualityFirst+uint64(seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := stageOf(t, "healthy", seed, length).play(t)
			// Half a conversation a second, of four turns on average.
			if turns := p.turns(); turns < 0.8*2*length.Seconds() {
				t.Errorf("only %v turns ended within %v", turns, length)
			}
			for _, one := range p.pages(t) {
				say := t.Errorf
				if one.severity == "ticket" { // five turns over an objective are, while there is little history
					say = t.Logf
				}
				say("while all is well, %s: %s", one, one.text)
			}
		})
	}
}
