package main

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var (
	quality      = flag.String("quality", "", "file for the tables of docs/demo-quality.md, measured in full")
	qualitySeeds = flag.Int("quality.seeds", 0, "hours of the healthy demo, each with a seed of its own; 0 means a few")
	qualityFirst = flag.Uint64("quality.first", 1, "the first of these seeds")
)

// TestFaultsPage lets go wrong in the demo what its deployment can, and wants the
// alerts that name it in time. Without -quality only what is told within
// minutes, once each.
func TestFaultsPage(t *testing.T) {
	for _, c := range faults(t) {
		t.Run(c.name, func(t *testing.T) {
			if *quality == "" && (c.learns || c.lasts > 6*time.Minute) {
				t.Skip("takes long: make demo-quality")
			}
			t.Parallel()
			v := c.judge(t, 1)
			t.Logf("%v failed %.2f first %v told %v", v.ratios, v.failed, v.paged, v.told)
		})
	}
}

// TestDrafterPages switches the drafter on at each level that the reports of it
// have.
func TestDrafterPages(t *testing.T) {
	for _, c := range changes() {
		t.Run(fmt.Sprint(c.level), func(t *testing.T) {
			if *quality == "" {
				t.Skip("takes long: make demo-quality")
			}
			t.Parallel()
			v := c.drafted().judge(t, 1)
			t.Logf("%v failed %.2f first %v told %v", v.ratios, v.failed, v.paged, v.told)
		})
	}
}

// TestHealthyDemoPagesNever lets an hour of the healthy demo go by for each
// seed. Seeds differ in all that is drawn: when conversations start, how long
// they are, and what the other clients do.
func TestHealthyDemoPagesNever(t *testing.T) {
	seeds := *qualitySeeds
	if seeds == 0 {
		seeds = 2
	}
	for seed := *qualityFirst; seed < *qualityFirst+uint64(seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := stageOf(t, "healthy", seed, time.Hour).play(t)
			turns := p.turns()
			if turns < 6000 { // half a conversation a second, of four turns on average
				t.Errorf("only %v turns ended within the hour", turns)
			}
			for _, one := range p.pages(t) {
				t.Errorf("while all is well, %s: %s", one, one.text)
			}
		})
	}
}
