package main

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/config"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/study/figures"
	reports "synthetic/internal/study/report"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
	"synthetic/internal/study/sweep"
)

var (
	capacities    = flag.Bool("capacities", false, "compare the search for the capacity with the full grid on every plan")
	capacitySeeds = flag.Int("capacity-seeds", 1, "how many seeds -capacities goes through, from 1")
)

// TestCapacities compares --find-capacity with the full grid: it has to find the same
// capacity in at most half of the measured time. It runs every plan of plans/ at full
// length, which takes minutes per seed, and prints a row for each. With 300 turns at a level, as plan
// 003 has, one bad turn keeps an SLO of 99 % from being proven, and the search can end lower than the grid.
// TestCapacityAgreesWithGrid in internal/study/sweep checks the same on small levels.
func TestCapacities(t *testing.T) {
	if !*capacities {
		t.Skip("runs with -capacities")
	}
	files, err := filepath.Glob("../../plans/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans (%v)", err)
	}
	for seed := range *capacitySeeds {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".yml")
			t.Run(fmt.Sprintf("%s/%d", name, seed+1), func(t *testing.T) {
				plan := loadPlan(t, file)
				plan.Repetitions, plan.Seed = 1, uint64(seed+1)
				compareCapacities(t, name, plan)
			})
		}
	}
}

func loadPlan(t *testing.T, file string) sweep.Plan {
	t.Helper()
	plan, err := config.LoadPlan(file, cluster.Presets())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// compareCapacities measures a plan with the search and with the full grid.
func compareCapacities(t *testing.T, name string, plan sweep.Plan) {
	t.Helper()
	grid, search := inVirtualTime(t, "grid", plan, false), inVirtualTime(t, "search", plan, true)
	for _, r := range search.Results {
		t.Log(finishedLine(r, search.NotReached(r)))
	}
	reportsCapacities(t, search)
	for _, found := range search.Capacities {
		want := stats.NewJudge(grid).Capacity(found.Variant, grid)
		share := found.MeasuredSeconds / want.MeasuredSeconds
		t.Logf("| %s | %s | %d | %s | %s | %.0f s | %.0f s | %.0f %% |", name, found.Variant, plan.Seed,
			bounds(want), bounds(found), want.MeasuredSeconds, found.MeasuredSeconds, 100*share)
		if levelOf(found) != levelOf(want) {
			t.Errorf("%s: the search finds %s, the grid %s", found.Variant, found.Sentence("level"), want.Sentence("level"))
		}
		if share > 0.5 {
			t.Errorf("%s: the search measured %.0f s, more than half of the grid's %.0f s", found.Variant, found.MeasuredSeconds, want.MeasuredSeconds)
		}
	}
}

// reportsCapacities checks that the full report of a run shows the capacities.
func reportsCapacities(t *testing.T, run *runfile.Run) {
	t.Helper()
	pages, err := reports.Files(figures.FromRuns([]*runfile.Run{run}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range run.Capacities {
		if want := "Proven for " + c.Variant + ": " + c.Sentence(run.LevelKind); !bytes.Contains(pages[0].Data, []byte(want)) {
			t.Errorf("%s lacks %q", pages[0].Name, want)
		}
	}
}

// levelOf returns the level that is proven to meet the objectives, 0 if there is none.
func levelOf(c runfile.Capacity) float64 {
	if c.Level == nil {
		return 0
	}
	return *c.Level
}

// bounds formats the capacity and the lowest missed level: "70 – 80".
func bounds(c runfile.Capacity) string {
	low, high := "none", "none"
	if c.Level != nil {
		low = fmt.Sprintf("%g", *c.Level)
	}
	if c.Missed != nil {
		high = fmt.Sprintf("%g", *c.Missed)
	}
	return low + " – " + high
}
