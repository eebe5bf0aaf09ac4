package main

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"synthetic/internal/config"
	"synthetic/internal/fleet"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/study/report"
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
				plan.WarmUp.Duration, plan.Measure = 30*time.Second, fleet.Measure{Snapshots: 1, Snapshot: time.Minute}
			}
			study := report.FromRun(inVirtualTime(t, name, plan))
			for i, v := range plan.Variants {
				var replayed []replay.LevelFigures
				for seed := range uint64(replaySeeds) {
					levels, err := replay.Run(plan, v.Preset, plan.Seed+seed)
					if err != nil {
						t.Fatal(err)
					}
					replayed = append(replayed, levels[0])
				}
				compareFigures(t, v.Name, study.Series[i].Levels[0], replayed)
			}
		})
	}
}

const replaySeeds = 8

// compareFigures expects each figure of the sweep, which draws other conversations, within three standard
// deviations of replays with other seeds. Figures that scatter by a tenth are not compared: the TTFT p50 of
// round-robin routing lies between the TTFT of turns that hit the cache and of turns that miss it, and scatters by a
// fifth.
func compareFigures(t *testing.T, name string, got report.Level, replayed []replay.LevelFigures) {
	t.Helper()
	for m, of := range map[report.Metric]func(replay.LevelFigures) float64{
		report.TPOTP50:      func(f replay.LevelFigures) float64 { return 1000 * f.TPOT.P50 },
		report.TTFTP50:      func(f replay.LevelFigures) float64 { return 1000 * f.TTFT.P50 },
		report.KVHitRatePct: func(f replay.LevelFigures) float64 { return 100 * f.Hits },
	} {
		var values []float64
		for _, f := range replayed {
			values = append(values, of(f))
		}
		mean, sd := stat.MeanStdDev(values, nil)
		off := got.Value(m) - mean
		t.Logf("%s, %s: %.4g in the sweep, %.4g replayed, %+.1f %%; one seed is ±%.1f %%", name, m, got.Value(m), mean, 100*off/mean, 100*sd/mean)
		if most := max(3*sd, 0.02*mean); sd < 0.1*mean && !(math.Abs(off) <= most) {
			t.Errorf("%s: %s differs by more than %.1f %%", name, m, 100*most/mean)
		}
	}
}

func loadPlan(t *testing.T, file string) fleet.Plan {
	t.Helper()
	plan, err := config.LoadPlan(file, cluster.Presets())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
