package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

// MaxErrorPct is the percentage of failed turns above which a run is left out of a level's
// latencies, because its surviving turns had the deployment to themselves.
const MaxErrorPct = 5

// FromRuns makes a study of one run, or pools the repetitions of several runs of the same
// sweep. The runs must be comparable (see RunDifference).
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
	s.Method = methodTable(first, runs)
	pooled, judge := poolRuns(runs), stats.NewJudge(first)
	for _, variant := range first.Variants {
		if series := seriesOf(variant, pooled, judge); len(series.Levels) > 0 {
			for _, l := range series.Levels {
				l.addEconomy(first.HardwareOf(variant))
			}
			s.Series = append(s.Series, series)
		}
	}
	for _, c := range first.Capacities { // recomputed from all runs, by the current rule
		s.Capacities = append(s.Capacities, judge.Capacity(c.Variant, pooled))
	}
	for _, result := range pooled.Results { // their figures come from fewer turns
		if decidedEarly(result) {
			s.Notes = append(s.Notes, fmt.Sprintf("%s, level %g, repetition %d was decided early: %s", result.Variant, result.Level, result.Repetition, result.Why))
		}
	}
	for _, r := range runs {
		if r.Interrupted != "" {
			s.Interrupted = r.Interrupted
			s.Warnings = append(s.Warnings, "The sweep did not finish: "+r.Interrupted)
		}
	}
	return s
}

func methodTable(r *runfile.Run, runs []*runfile.Run) []runfile.Parameter {
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
	if len(r.Shards) > 0 {
		row("Shards", "%s", shardSummary(r.Shards))
	}
	row("Plan", "sha256 %s, seed %d", r.Plan.SHA256, r.Seed)
	return rows
}

// shardSummary returns the number of shards and the accuracy of their clocks.
func shardSummary(all []runfile.Shard) string {
	var clocks []string
	for _, s := range all[1:] {
		clocks = append(clocks, fmt.Sprintf("%+.3f ± %.3f ms", 1000*s.OffsetSeconds, 1000*s.ErrorSeconds))
	}
	if clocks == nil {
		return "1"
	}
	return fmt.Sprintf("%d, by the clock of shard 0; offsets added to the other clocks: %s", len(all), strings.Join(clocks, ", "))
}

// seriesOf collects the results of a variant by level.
func seriesOf(variant string, run *runfile.Run, judge stats.Judge) Series {
	byLevel := map[float64][]measured{}
	for _, r := range run.Results {
		if r.Variant == variant && len(r.Snapshots) > 0 {
			byLevel[r.Level] = append(byLevel[r.Level], measured{r, run.NotReached(r)})
		}
	}
	series := Series{Name: variant}
	for at, results := range byLevel {
		series.Levels = append(series.Levels, levelOf(at, results, judge))
	}
	slices.SortFunc(series.Levels, func(a, b Level) int { return cmp.Compare(a.At, b.At) })
	return series
}

func poolRuns(runs []*runfile.Run) *runfile.Run {
	pooled := *runs[0]
	count := map[runfile.Cell]int{}
	pooled.Results = nil
	for _, r := range runs {
		for _, result := range r.Results {
			if len(runs) > 1 { // each run numbers its own from 1
				c := runfile.Cell{Variant: result.Variant, Level: result.Level}
				count[c]++
				result.Repetition = count[c]
			}
			pooled.Results = append(pooled.Results, result)
		}
	}
	return &pooled
}
