package sweep

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"synthetic/internal/fleet"
	"synthetic/internal/serverside"
	"synthetic/internal/study/runs"
)

func (s *sweep) newRun() *runs.Run {
	p := s.Plan
	r := &runs.Run{
		Origin: runs.Origin{
			Format: runs.Format, Tool: s.Tool, Title: p.Title, Plan: runs.Plan(p.Source), Seed: p.Seed,
		},
		Workload: workloadOf(p),
		Method: runs.Method{
			LevelKind: KindOf(p), WarmUpSeconds: p.WarmUp.Duration.Seconds(),
			MeasurementSeconds: p.Measure.Duration().Seconds(), Conversations: p.Measure.Conversations,
			PauseSeconds: p.Pause.Seconds(), Snapshots: p.Measure.Snapshots, Repetitions: p.Repetitions,
			Order: string(p.Order),
		},
		Slots: runs.Slots{Shard: s.Shard, StartAt: s.StartAt}, SLOs: p.SLOs, Confidence: p.Confidence,
	}
	if p.Cache.Policy != fleet.KeepCache || p.Workload.SharesTexts() { // otherwise nothing that a level leaves is of use
		r.CachePolicy = string(p.Cache.Policy)
	}
	if p.Cache.Policy == fleet.Prime {
		r.CachePolicy += fmt.Sprintf(" with %d conversations", p.Cache.Conversations)
	}
	if w := p.WarmUp; w.Conversations > 0 {
		r.WarmUp = fmt.Sprintf("%d conversations at %g/s, then %s of rest", w.Conversations, w.Rate, w.Cooldown)
	}
	if !p.OpenLoop && p.StartRate > 0 {
		r.TargetRPS = &p.StartRate
	}
	if s.Shard.Count > 0 {
		r.Levels = p.Levels
	}
	r.Unnamed = len(p.Variants) == 1 && p.Variants[0].Unnamed
	for _, v := range p.Variants {
		r.Variants = append(r.Variants, v.Name)
	}
	return r
}

// fingerprint returns the name of a file with a checksum of its content.
func fingerprint(path string) string {
	sum := sha256.New()
	f, err := os.Open(path)
	if err != nil {
		return filepath.Base(path) // its reader reports what is wrong
	}
	_, err = io.Copy(sum, f)
	_ = f.Close() // the file was only read
	if err != nil {
		return filepath.Base(path)
	}
	return fmt.Sprintf("%s (sha256 %.12x)", filepath.Base(path), sum.Sum(nil))
}

func summary(p fleet.Plan) string {
	w := p.Workload
	switch {
	case w.Trace.File != "":
		return "Recorded traffic (" + filepath.Base(w.Trace.File) + ")"
	case w.TurnsMax <= 1:
		return fmt.Sprintf("Single turns (about %d prompt tokens)", w.PromptTokens)
	}
	return fmt.Sprintf("Multi-turn chat (%s turns per conversation)", formatRange(w.TurnsMin, w.TurnsMax))
}

func formatRange(low, high int) string {
	if low == high || high == 0 {
		return strconv.Itoa(max(low, high))
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// deployment merges the deployment tables of the plan and of the variants: the plan's lines
// first, then further lines of the variants. A line that all variants share holds for all.
func deployment(p fleet.Plan, described []runs.Parameter) []runs.Parameter {
	lines := append([]runs.Parameter(nil), parametersOf("", p.Deployment)...)
	for _, v := range p.Variants {
		lines = append(lines, parametersOf(v.Name, v.Deployment)...)
	}
	planned := lines
	for _, l := range described {
		if slices.ContainsFunc(planned, func(o runs.Parameter) bool { return o.Name == l.Name }) {
			l.Name += " (as served)"
		}
		if sharedByAll(p, described, l) {
			l.Variant = ""
		}
		known := func(o runs.Parameter) bool { return o.Name == l.Name && o.Value == l.Value && o.Variant == "" }
		if !slices.ContainsFunc(lines, known) {
			lines = append(lines, l)
		}
	}
	return lines
}

// parametersOf returns the lines of a variant, or of all variants.
func parametersOf(variant string, settings []serverside.Setting) []runs.Parameter {
	out := []runs.Parameter{}
	for _, s := range settings {
		out = append(out, runs.Parameter{Name: s.Name, Value: s.Value, Source: s.Source, Variant: variant})
	}
	return out
}

func sharedByAll(p fleet.Plan, described []runs.Parameter, l runs.Parameter) bool {
	for _, v := range p.Variants {
		same := func(o runs.Parameter) bool {
			return o.Variant == v.Name && o.Value == l.Value && o.Source == l.Source
		}
		if !slices.ContainsFunc(described, same) {
			return false
		}
	}
	return true
}
