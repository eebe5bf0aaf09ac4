package main

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
	"synthetic/tools/calibrate/replay"
)

// TestReplayMatchesTheSweep compares the figures that make calibrate computes without HTTP with those
// of the sweep engine and the prober, for one short level of a closed loop and of an open loop.
func TestReplayMatchesTheSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates two sweeps; make test-long runs it")
	}
	for name, level := range map[string]float64{"004-kv-vs-rr": 20, "003-bench": 1.5} {
		t.Run(name, func(t *testing.T) {
			plan := loadPlan(t, "../../plans/"+name+".yml")
			plan.Levels, plan.Pause = []float64{level}, time.Second
			if plan.Measure.Conversations > 0 {
				plan.Measure.Conversations = 60
			} else {
				plan.WarmUp.Duration, plan.Measure = 30*time.Second, sweep.Measure{Snapshots: 1, Snapshot: time.Minute}
			}
			study := figures.FromRuns([]*runfile.Run{inVirtualTime(t, name, plan, false)})
			for i, v := range plan.Variants {
				want, err := replay.Run(plan, v.Preset, plan.Seed)
				if err != nil {
					t.Fatal(err)
				}
				compareFigures(t, v.Name, study.Series[i].Levels[0], want[0])
			}
		})
	}
}

// compareFigures allows for the difference of two seeds: the sweep draws other conversations.
func compareFigures(t *testing.T, name string, got figures.Level, want replay.LevelFigures) {
	t.Helper()
	for _, c := range []struct {
		metric         figures.Metric
		replayed, most float64
	}{
		{figures.TPOTP50, 1000 * want.TPOT.P50, .06},
		{figures.TTFTP50, 1000 * want.TTFT.P50, .25}, // few turns, with and without a miss of the cache
		{figures.KVHitRatePct, 100 * want.Hits, .06},
	} {
		off := got.Value(c.metric)/c.replayed - 1
		t.Logf("%s, %s: %.4g in the sweep, %.4g replayed (%+.1f %%)", name, c.metric, got.Value(c.metric), c.replayed, 100*off)
		if !(math.Abs(off) <= c.most) {
			t.Errorf("%s: %s differs by more than %.0f %%", name, c.metric, 100*c.most)
		}
	}
}
