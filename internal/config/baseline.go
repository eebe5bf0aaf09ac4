package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/study/baseline"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
	"synthetic/internal/yamlform"
)

// Baseline is the level of a benchmark that a job is compared with.
type Baseline struct {
	Target, Workload string
	// Run names the measurement, Variant and Level what was chosen of it; the
	// level is one of Kind.
	Run, Variant string
	Level        float64
	Kind         runfile.LevelKind
	// Expected is what was measured there.
	Expected baseline.Level
	// Learned are the kinds of turn of the job that are not compared with it,
	// since the level has too few of them or does not tell them apart.
	Learned []probe.TurnKind
}

// BaselineOf returns the baseline of a job, and whether it has one.
func (c *Config) BaselineOf(target, workload string) (Baseline, bool) {
	i := slices.IndexFunc(c.Baselines, func(b Baseline) bool { return b.Target == target && b.Workload == workload })
	if i < 0 {
		return Baseline{}, false
	}
	return c.Baselines[i], true
}

// benchmark is the file that a traffic entry is compared with, nil for none or
// for one with a mistake.
func (b *builder) benchmark(path string, t fileTraffic) *baseline.File {
	at := path + ".baseline_file"
	if t.BaselineFile == "" {
		if b.Fine(at) {
			b.Useless(path, "without baseline_file", "write baseline_file, or remove it", "baseline_variant", "baseline_level")
		}
		return nil
	}
	full := b.file(at, t.BaselineFile, false)
	if !b.Fine(at) {
		return nil
	}
	f, err := baseline.Open(full)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), full+": ")
		b.Mistake(at, t.BaselineFile, "cannot be a baseline ("+reason+")", "name the run.json of synthetic sweep, or the report.json of a report")
		return nil
	}
	return f
}

// baseline chooses the level that a job is compared with.
func (b *builder) baseline(path string, t fileTraffic, f *baseline.File, j probe.Job) {
	if f == nil || !b.Fine(path+".baseline_file", path+".baseline_variant", path+".baseline_level") {
		return
	}
	if d := sweep.Differs(j.Workload, f.Workload); d != "" {
		b.Mistake(path+".baseline_file", filepath.Base(t.BaselineFile), fmt.Sprintf("was measured with another workload than %q: %s", j.Workload.Name, d), "sweep with the workload of this entry, or give the entry that of the sweep")
		return
	}
	variant, ok := b.baselineVariant(path, t, f, j.Target.Name)
	if !ok {
		return
	}
	level, ok := b.baselineLevel(path, t, f, variant, j.Traffic)
	if !ok {
		return
	}
	e, err := f.At(variant, level)
	if err != nil {
		b.Mistake(b.nearer(path, "baseline_level"), "", fmt.Sprintf("level %g of %q cannot be a baseline: %v", level, variant, err), "choose another baseline_level of those that were measured: "+levelList(f, variant))
		return
	}
	b.baselines = append(b.baselines, Baseline{
		Target: j.Target.Name, Workload: j.Workload.Name,
		Run: f.Name, Variant: variant, Level: level, Kind: f.Kind, Expected: e, Learned: learned(e, j.Workload),
	})
}

// learned lists the kinds of turn that a workload has and that a level has no
// TTFT to compare with.
func learned(l baseline.Level, w workload.Spec) []probe.TurnKind {
	var out []probe.TurnKind
	for k, kind := range kindsOf(w) { // the first of probe.TurnKinds
		if l.Benchmarks[k][0].Typical == 0 {
			out = append(out, kind)
		}
	}
	return out
}

// baselineVariant is the one that was written, the only one there is, or that
// which is called as the target.
func (b *builder) baselineVariant(path string, t fileTraffic, f *baseline.File, target string) (string, bool) {
	at := path + ".baseline_variant"
	switch {
	case b.Has(at) && slices.Contains(f.Variants, t.BaselineVariant):
		return t.BaselineVariant, true
	case b.Has(at):
		b.Mistake(at, t.BaselineVariant, "is not a variant of the baseline_file", yamlform.Suggest(t.BaselineVariant, f.Variants, "variants"))
		return "", false
	case len(f.Variants) == 1:
		return f.Variants[0], true
	case slices.Contains(f.Variants, target):
		return target, true
	}
	b.Mistake(at, "", fmt.Sprintf("is missing: the baseline_file has several, and none is called %q as the target", target), "name one of the variants "+yamlform.Sequence(f.Variants))
	return "", false
}

// baselineLevel is the one that was written, the only one there is, or that at
// which the job itself loads the target.
func (b *builder) baselineLevel(path string, t fileTraffic, f *baseline.File, variant string, load workload.Traffic) (float64, bool) {
	at := path + ".baseline_level"
	levels := f.Levels(variant)
	own := load.Rate
	if f.Kind == runfile.Concurrency {
		own = float64(load.Concurrency)
	}
	switch {
	case len(levels) == 0:
		b.Mistake(b.nearer(path, "baseline_variant"), variant, "was not measured at any level", "choose another variant, or finish the sweep with --resume")
	case b.Has(at) && slices.Contains(levels, t.BaselineLevel):
		return t.BaselineLevel, true
	case b.Has(at):
		b.Mistake(at, number(t.BaselineLevel), fmt.Sprintf("is not a level of %q", variant), "write one of the measured levels: "+levelList(f, variant))
	case len(levels) == 1:
		return levels[0], true
	case slices.Contains(levels, own):
		return own, true
	default:
		b.Mistake(at, "", fmt.Sprintf("is missing: %q was measured at several levels", variant), "write the one that is to be expected here: "+levelList(f, variant))
	}
	return 0, false
}

// nearer is the path of a key if it was written, else that of baseline_file.
func (b *builder) nearer(path, key string) string {
	if at := path + "." + key; b.Has(at) {
		return at
	}
	return path + ".baseline_file"
}

// levelList is "concurrency 10, 20 and 30".
func levelList(f *baseline.File, variant string) string {
	var levels []string
	for _, l := range f.Levels(variant) {
		levels = append(levels, number(l))
	}
	return string(f.Kind) + " " + yamlform.Sequence(levels)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
