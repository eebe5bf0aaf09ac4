package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/study/runs"
)

// MaxErrorPct is the percentage of failed turns above which a run is left out of a level's
// latencies, because its surviving turns had the deployment to themselves.
const MaxErrorPct = 5

// FromRun makes a study of a run. It pools the repetitions of a level.
func FromRun(run *runs.Run) *Study {
	s := &Study{
		Title: run.Title, Metric: "synthetic_ttft_seconds", Generated: run.Generated, Kind: run.LevelKind, TargetRPS: run.TargetRPS,
		Setup:       Setup{Workload: run.Workload.Parameters, Deployment: run.Deployment, Method: methodTable(run)},
		Objectives:  run.SLOs,
		Interrupted: run.Interrupted,
	}
	if s.Workload == nil {
		s.Workload = []runs.Parameter{}
	}
	for _, variant := range run.Variants {
		if series := seriesOf(variant, run); len(series.Levels) > 0 {
			for _, l := range series.Levels {
				l.round()
			}
			s.Series = append(s.Series, series)
		}
	}
	if run.Interrupted != "" {
		s.Warnings = append(s.Warnings, "The sweep did not finish: "+run.Interrupted)
	}
	s.nameByModel(run)
	s.describe()
	return s
}

// nameByModel names an unnamed variant after its model.
func (s *Study) nameByModel(run *runs.Run) {
	model := ""
	for _, p := range run.Deployment {
		if p.Name == "Model (as served)" || p.Name == "Model" && model == "" {
			model = p.Value
		}
	}
	if !run.Unnamed || model == "" {
		return
	}
	for i := range s.Series {
		s.Series[i].Name = model
	}
	s.Method[0].Value = model // the variants
}

func methodTable(r *runs.Run) []runs.Parameter {
	var rows []runs.Parameter
	row := func(name, format string, args ...any) {
		rows = append(rows, runs.Parameter{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	row("Variants", "%s", strings.Join(r.Variants, ", "))
	var levels []float64
	for _, result := range r.Results {
		levels = append(levels, result.Level)
	}
	slices.Sort(levels)
	title := map[runs.LevelKind]string{runs.Rate: "Rates"}[r.LevelKind]
	row(cmp.Or(title, "Concurrency levels"), "%s", runs.FormatLevels(slices.Compact(levels), ", "))
	if r.TargetRPS != nil {
		row("Target RPS", "%g conversations/s until a level is full; after that, the end of each one starts the next", *r.TargetRPS)
	}
	if r.LevelKind == runs.Concurrency && !runs.HasNoThinkTime(r.Workload.Parameters) {
		row("In flight", "a level counts conversations; while a user thinks between two turns, no turn is in flight, so the mean in flight is lower")
	}
	if r.WarmUp != "" {
		row("Warmup", "%s, per level", r.WarmUp)
	} else {
		row("Warmup", "%gs per level", r.WarmUpSeconds)
	}
	if r.MeasurementSeconds > 0 {
		row("Measurement", "%gs per level (%s)", r.MeasurementSeconds, snapshotWords(r))
	} else {
		row("Prompts per level", "%d conversations", r.Conversations)
	}
	if r.PauseSeconds > 0 {
		row("Cooldown between levels", "%gs", r.PauseSeconds)
	}
	if n := r.Repetitions; n > 1 {
		row("Repetitions", "%d, pooled (those above %d %% errors are left out of latencies)", n, MaxErrorPct)
	}
	if r.Order != "" && len(r.Variants) > 1 {
		row("Order of variants", "%s", cmp.Or(meanings[r.Order], r.Order))
	}
	if r.CachePolicy != "" {
		row("Cache", "%s", cmp.Or(meanings[r.CachePolicy], r.CachePolicy+": sent before the warm-up of each level"))
	}
	row("Workload", "%s", r.Workload.Summary)
	if text := measuredLengths(r.Results); text != "" {
		row("Tokens per turn", "%s", text)
	}
	row("Metric source", "client side: bytes as they arrived at the prober")
	row("Tool", "%s", strings.TrimSpace(r.Tool.Name+" "+r.Tool.Version))
	row("Plan", "sha256 %s, seed %d", r.Plan.SHA256, r.Seed)
	return rows
}

func snapshotWords(r *runs.Run) string {
	if r.Snapshots == 1 {
		return "1 snapshot"
	}
	return fmt.Sprintf("%d snapshots @ %gs, pooled", r.Snapshots, r.MeasurementSeconds/float64(r.Snapshots))
}

// meanings explain the order of variants, and in which state a level finds the prefix cache.
var meanings = map[string]string{
	"ABBA":   "ABBA: all variants at one level, then at the next level in reverse order",
	"blocks": "blocks: all levels of a variant, then the next variant",
	"keep":   "keep: a level finds in the prefix cache what earlier levels left there",
	"bust":   "bust: no text of a level was sent before",
}

// measuredLengths returns the mean lengths of prompts, which grow from turn to turn, and of answers.
func measuredLengths(results []runs.Result) string {
	sum := runs.Sum(results...)
	turns, prompt, output := float64(sum.Outcomes[probe.Success]), float64(sum.Tokens.Prompt), float64(sum.Tokens.Output)
	if turns == 0 || prompt == 0 {
		return ""
	}
	return fmt.Sprintf("%s in prompts, %s in answers (means of successful turns)", Digits(prompt/turns, 0), Digits(output/turns, 0))
}

// seriesOf collects the results of a variant by level.
func seriesOf(variant string, run *runs.Run) Series {
	byLevel := map[float64][]runs.Result{}
	for _, r := range run.Results {
		if r.Variant == variant && len(r.Snapshots) > 0 {
			byLevel[r.Level] = append(byLevel[r.Level], r)
		}
	}
	series := Series{Name: variant}
	for at, results := range byLevel {
		series.Levels = append(series.Levels, levelOf(at, run, results))
	}
	slices.SortFunc(series.Levels, func(a, b Level) int { return cmp.Compare(a.At, b.At) })
	return series
}
