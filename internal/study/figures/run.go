package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/runfile"
)

// MaxErrorPct is the share of failed turns in percent above which a run no
// longer stands for a level's latencies: its survivors had the deployment to
// themselves.
const MaxErrorPct = 5

// FromRuns makes a study of one run, or of several of the same sweep: their
// repetitions are pooled, as if one run had measured them all. The runs must
// be comparable (see Same).
func FromRuns(runs []*runfile.Run) *Study {
	first := runs[0]
	s := &Study{
		Title: first.Title, Generated: first.Generated, Kind: first.LevelKind, TargetRPS: first.TargetRPS,
		Workload: first.Workload.Parameters, Deployment: first.Deployment,
	}
	if s.Workload == nil {
		s.Workload = []runfile.Parameter{}
	}
	for _, o := range first.SLOs {
		s.Objectives = append(s.Objectives, objectiveOf(o))
	}
	s.Method = method(first, runs)
	for _, variant := range first.Variants {
		if series := seriesOf(variant, runs); len(series.Levels) > 0 {
			s.Series = append(s.Series, series)
		}
	}
	for i, r := range runs {
		for _, result := range r.Results { // of those decided early, figures stand on fewer turns
			if decided(result) {
				s.Notes = append(s.Notes, fmt.Sprintf("%s, level %g, repetition %d was decided early: %s", result.Variant, result.Level, result.Repetition, result.Why))
			}
		}
		if r.Interrupted != "" {
			s.Warnings = append(s.Warnings, "The sweep did not come to its end: "+r.Interrupted)
		}
		s.Warnings = append(s.Warnings, r.Warnings...)
		for _, c := range r.Capacities {
			if len(runs) > 1 { // each run proved its own
				c.Variant += fmt.Sprintf(", run %d", i+1)
			}
			s.Capacities = append(s.Capacities, c)
		}
	}
	return s
}

// method is the table of how it was measured.
func method(r *runfile.Run, runs []*runfile.Run) []runfile.Parameter {
	var rows []runfile.Parameter
	row := func(name, format string, args ...any) {
		rows = append(rows, runfile.Parameter{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	row("Variants", "%s", strings.Join(r.Variants, ", "))
	var levels []float64
	for _, r := range runs {
		for _, result := range r.Results {
			levels = append(levels, result.Level)
		}
	}
	slices.Sort(levels)
	title := map[runfile.LevelKind]string{runfile.Rate: "Rates"}[r.LevelKind]
	row(cmp.Or(title, "Concurrency levels"), "%s", runfile.FormatLevels(slices.Compact(levels), ", "))
	if r.TargetRPS != nil {
		row("Target RPS", "%.1f conversation starts/s at most", *r.TargetRPS)
	}
	if r.WarmUp != "" {
		row("Warmup", "%s, per level", r.WarmUp)
	} else {
		row("Warmup", "%gs per level", r.WarmUpSeconds)
	}
	if r.MeasurementSeconds > 0 {
		row("Measurement", "%gs per level (%d snapshots)", r.MeasurementSeconds, r.Snapshots)
	} else {
		row("Measurement", "%d conversations per level", r.Conversations)
	}
	if n := r.Repetitions * len(runs); n > 1 {
		row("Repetitions", "%d, pooled (those above %d %% errors are left out of latencies)", n, MaxErrorPct)
	}
	if r.Order != "" && len(r.Variants) > 1 {
		row("Order of variants", "%s", r.Order)
	}
	if r.CachePolicy != "" {
		row("Cache", "%s", r.CachePolicy)
	}
	row("Workload", "%s", r.Workload.Summary)
	row("Metric source", "client side: bytes as they arrived at the prober")
	row("Tool", "%s", strings.TrimSpace(r.Tool.Name+" "+r.Tool.Version))
	row("Plan", "sha256 %s, seed %d", r.Plan.SHA256, r.Seed)
	return rows
}

// seriesOf gathers the results of a variant by level.
func seriesOf(variant string, runs []*runfile.Run) Series {
	byLevel := map[float64][]runfile.Result{}
	for _, r := range runs {
		for _, result := range r.Results {
			if result.Variant == variant && len(result.Snapshots) > 0 {
				if len(runs) > 1 { // each run counts its own from 1
					result.Repetition = len(byLevel[result.Level]) + 1
				}
				byLevel[result.Level] = append(byLevel[result.Level], result)
			}
		}
	}
	series := Series{Name: variant}
	for at, results := range byLevel {
		series.Levels = append(series.Levels, levelOf(at, results))
	}
	slices.SortFunc(series.Levels, func(a, b Level) int { return cmp.Compare(a.At, b.At) })
	return series
}
