package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/config"
	reports "synthetic/internal/report"
	"synthetic/internal/report/study"
	"synthetic/internal/runfile"
	"synthetic/internal/sweep"
)

var (
	studies    = flag.String("studies", "", "directory for the reports of plans/, each measured in full")
	capacities = flag.Bool("capacities", false, "compare the search for the capacity with the full grid, on every plan")
)

// TestStudies runs the plans of plans/ in virtual time: the real sweep engine,
// prober and HTTP, over connections in memory. With -studies=DIR each is
// measured as it stands and its report written to DIR; otherwise a moment of
// each shows that it would work.
func TestStudies(t *testing.T) {
	files, err := filepath.Glob("../../plans/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		t.Run(name, func(t *testing.T) {
			plan, err := config.LoadPlan(file, presetNames())
			if err != nil {
				t.Fatal(err)
			}
			if *studies == "" {
				plan = glimpse(plan)
			} else {
				t.Parallel()
			}
			run := inVirtualTime(t, name, plan, false)
			if cells := len(plan.Cells()); len(run.Results) != cells {
				t.Errorf("%d levels were measured, want %d", len(run.Results), cells)
			}
			pages, err := reports.Files(study.FromRuns([]*runfile.Run{run}))
			if err != nil {
				t.Fatal(err)
			}
			if *studies != "" {
				// The page and the table say nothing that the Markdown lacks.
				pages = slices.DeleteFunc(pages, func(f reports.File) bool {
					return slices.Contains([]string{".html", ".csv"}, filepath.Ext(f.Name))
				})
				if err := reports.Write(filepath.Join(*studies, name), pages); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// glimpse is a plan with one low level, measured briefly.
func glimpse(p sweep.Plan) sweep.Plan {
	p.Levels, p.Repetitions, p.Pause = []float64{2}, 1, time.Second
	if p.Measure.Conversations > 0 {
		p.Measure.Conversations, p.WarmUp.Conversations = 4, 1
	} else {
		p.Measure.Snapshot, p.WarmUp.Duration = 20*time.Second, 10*time.Second
	}
	return p
}

// inVirtualTime runs a plan, whose presets are its whole world.
func inVirtualTime(t *testing.T, name string, plan sweep.Plan, search bool) *runfile.Run {
	t.Helper()
	var run *runfile.Run
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		presets := newPresetNetwork(plan.Seed)
		defer presets.close()
		start := time.Now()
		var err error
		run, err = sweep.Run(t.Context(), sweep.Options{
			Plan: plan, Dir: t.TempDir(), ID: name, FindCapacity: search,
			Tool: runfile.Tool{Name: "synthetic"}, Dial: presets.dialer(plan),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s of virtual time", time.Since(start).Round(time.Second))
	})
	t.Logf("%s of real time", time.Since(began).Round(time.Millisecond))
	return run
}

// TestCapacities compares the search with the full grid on every plan: the
// same capacity, in at most a third of the measured time. It measures for
// minutes, so it has to be asked for.
func TestCapacities(t *testing.T) {
	if !*capacities {
		t.Skip("measures every plan twice; ask for it with -capacities")
	}
	files, err := filepath.Glob("../../plans/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			t.Parallel()
			plan, err := config.LoadPlan(file, presetNames())
			if err != nil {
				t.Fatal(err)
			}
			plan.Repetitions = 1
			grid, search := inVirtualTime(t, "grid", plan, false), inVirtualTime(t, "search", plan, true)
			for _, r := range search.Results {
				t.Log(finishedLine(r))
			}
			for _, c := range search.Capacities {
				level, seconds := gridCapacity(grid, c.Variant)
				found := 0.0
				if c.Level != nil {
					found = *c.Level
				}
				t.Logf("%s: the search finds %g in %.0f s (%v), the grid %g in %.0f s", c.Variant, found, c.MeasuredSeconds, c.Visited, level, seconds)
				if found != level {
					t.Errorf("%s: the search finds %g, the grid %g", c.Variant, found, level)
				}
				if c.MeasuredSeconds > seconds/3 {
					t.Errorf("%s: the search measured %.0f s, more than a third of the grid's %.0f s", c.Variant, c.MeasuredSeconds, seconds)
				}
			}
		})
	}
}

// gridCapacity is the highest level below the first that missed its SLOs, 0 for
// none, and the measured time of all.
func gridCapacity(run *runfile.Run, variant string) (level, seconds float64) {
	missed := false
	for _, r := range run.Results { // one variant's levels rise
		if r.Variant != variant {
			continue
		}
		for _, s := range r.Snapshots {
			seconds += s.Seconds
		}
		if missed = missed || !r.Verdict.Met; !missed {
			level = r.Level
		}
	}
	return level, seconds
}
