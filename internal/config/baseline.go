package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"

	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

// benchmark is the file that a traffic entry is compared with, nil for none or
// for one with a mistake.
func (b *builder) benchmark(path string, t fileTraffic) *benchmarkFile {
	at := path + ".baseline_file"
	if t.BaselineFile == "" {
		if b.Valid(at) {
			b.NoEffect(path, "without baseline_file", "write baseline_file, or remove it", "baseline_variant", "baseline_level")
		}
		return nil
	}
	full := b.file(at, t.BaselineFile, false)
	if !b.Valid(at) {
		return nil
	}
	f, err := openBenchmarkFile(full)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), full+": ")
		b.Mistake(at, t.BaselineFile, "cannot be a baseline ("+reason+")", "name the run.json of synthetic sweep, or the report.json of a report")
		return nil
	}
	return f
}

// baseline chooses the level that a job is compared with.
func (b *builder) baseline(path string, t fileTraffic, f *benchmarkFile, j probe.Job) {
	if f == nil || !b.Valid(path+".baseline_file", path+".baseline_variant", path+".baseline_level") {
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
	b.benchmarks[j.Key()] = &sink.Benchmark{
		Run: f.Name, Variant: variant, Kind: string(f.Kind), Level: level,
		Pooled: e.Pooled, Figures: e.Benchmarks, Learned: learned(e, j.Workload),
	}
}

// learned lists the kinds of turn that a workload has and that a level has no
// TTFT to compare with.
func learned(l benchmarkLevel, w workload.Spec) []probe.TurnKind {
	var out []probe.TurnKind
	for k, kind := range kindsOf(w) { // the first of probe.TurnKinds
		if l.Benchmarks[k][0].Typical == 0 {
			out = append(out, kind)
		}
	}
	return out
}

// chosen is the value that was written, the only one there is, or the own one;
// false if it is none of all.
func chosen[T comparable](written bool, value T, all []T, own T) (T, bool) {
	switch {
	case written:
		return value, slices.Contains(all, value)
	case len(all) == 1:
		return all[0], true
	}
	return own, slices.Contains(all, own)
}

// baselineVariant is, where it was not written, that which is called as the
// target.
func (b *builder) baselineVariant(path string, t fileTraffic, f *benchmarkFile, target string) (string, bool) {
	at := path + ".baseline_variant"
	variant, ok := chosen(b.Has(at), t.BaselineVariant, f.Variants, target)
	switch {
	case ok:
	case b.Has(at):
		b.Mistake(at, variant, "is not a variant of the baseline_file", yamlform.Suggest(variant, f.Variants, "variants"))
	default:
		b.Mistake(at, "", fmt.Sprintf("is missing: the baseline_file has several, and none is called %q as the target", target), "name one of the variants "+yamlform.Sequence(f.Variants))
	}
	return variant, ok
}

// baselineLevel is, where it was not written, that at which the job itself loads
// the target.
func (b *builder) baselineLevel(path string, t fileTraffic, f *benchmarkFile, variant string, load workload.Traffic) (float64, bool) {
	at := path + ".baseline_level"
	own := load.Rate
	if f.Kind == runfile.Concurrency {
		own = float64(load.Concurrency)
	}
	levels := f.Levels(variant)
	level, ok := chosen(b.Has(at), t.BaselineLevel, levels, own)
	switch {
	case len(levels) == 0:
		b.Mistake(b.nearer(path, "baseline_variant"), variant, "was not measured at any level", "choose another variant, or finish the sweep with --resume")
	case ok:
	case b.Has(at):
		b.Mistake(at, number(level), fmt.Sprintf("is not a level of %q", variant), "write one of the measured levels: "+levelList(f, variant))
	default:
		b.Mistake(at, "", fmt.Sprintf("is missing: %q was measured at several levels", variant), "write the one that is to be expected here: "+levelList(f, variant))
	}
	return level, ok
}

// nearer is the path of a key if it was written, else that of baseline_file.
func (b *builder) nearer(path, key string) string {
	if at := path + "." + key; b.Has(at) {
		return at
	}
	return path + ".baseline_file"
}

// levelList is "concurrency 10, 20 and 30".
func levelList(f *benchmarkFile, variant string) string {
	var levels []string
	for _, l := range f.Levels(variant) {
		levels = append(levels, number(l))
	}
	return string(f.Kind) + " " + yamlform.Sequence(levels)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
