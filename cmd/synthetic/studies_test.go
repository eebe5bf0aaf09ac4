package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runs"
	"synthetic/internal/study/sweep"
)

var (
	studies = flag.String("studies", "", "directory for the reports of plans/, each measured in full")
)

// TestStudies runs the plans of plans/ in virtual time, with the real sweep engine, prober
// and HTTP over connections in memory. A report has the sections that the published report of the same study has.
// With -studies=DIR the test measures each plan in full and writes its report to DIR; otherwise it runs a short version
// of each.
func TestStudies(t *testing.T) {
	files, err := filepath.Glob("../../plans/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		t.Run(name, func(t *testing.T) {
			plan := loadPlan(t, file)
			if *studies == "" {
				plan = glimpse(plan)
			} else {
				t.Parallel()
			}
			run := inVirtualTime(t, name, plan)
			if cells := len(sweep.Cells(plan)); len(run.Results) != cells {
				t.Errorf("%d levels were measured, want %d", len(run.Results), cells)
			}
			pages, err := report.Files(report.FromRun(run))
			if err != nil {
				t.Fatal(err)
			}
			published, err := report.Read(filepath.Join("../../internal/study/report/testdata/forms", name[:3]+".json"))
			if err != nil {
				t.Fatal(err)
			}
			model, err := report.Files(published)
			if err != nil {
				t.Fatal(err)
			}
			got := sections(pages[0].Data)
			for _, want := range sections(model[0].Data) {
				if !slices.Contains(got, want) && want != "## Defects of the Measurement" {
					t.Errorf("the report has no %q among %q", want, got)
				}
			}
			if *studies != "" {
				if err := report.Write(filepath.Join(*studies, name), pages); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// sections returns the headings of a report below its title, without the level that one names.
func sections(page []byte) (all []string) {
	for line := range strings.Lines(string(page)) {
		if heading, _, _ := strings.Cut(strings.TrimSpace(line), " at "); strings.HasPrefix(heading, "##") {
			all = append(all, heading)
		}
	}
	return all
}

// glimpse reduces a plan to two low levels and a short measurement.
func glimpse(p fleet.Plan) fleet.Plan {
	p.Levels, p.Repetitions, p.Pause = []float64{2, 4}, 1, time.Second
	if p.Measure.Conversations > 0 {
		p.Measure.Conversations, p.WarmUp.Conversations = 4, 1
	} else {
		p.Measure.Snapshot, p.WarmUp.Duration = 20*time.Second, 10*time.Second
	}
	return p
}

// inVirtualTime runs a plan, all of whose variants are presets.
func inVirtualTime(t *testing.T, name string, plan fleet.Plan) *runs.Run {
	t.Helper()
	var run *runs.Run
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		dial, stop, err := presetNetwork(plan)
		defer stop()
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		run, err = sweep.Run(t.Context(), sweep.Options{
			Plan: plan, Dir: t.TempDir(), ID: name,
			Tool: runs.Tool{Name: "synthetic"}, Dial: dial,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s of virtual time", time.Since(start).Round(time.Second))
	})
	t.Logf("%s of real time", time.Since(began).Round(time.Millisecond))
	return run
}
