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
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/sweep"
)

// benchmark opens the baseline_file of a traffic entry. It returns nil if there is none or if it has a
// mistake.
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
	out, err := f.at(variant, level)
	if err != nil {
		b.Mistake(b.presentOrFile(path, "baseline_level"), "", fmt.Sprintf("level %g of %q cannot be a baseline: %v", level, variant, err), "choose another measured baseline_level: "+levelList(f, variant))
		return
	}
	for k, kind := range turnKinds(j.Workload) { // the first of probe.TurnKinds
		if !out.Figures[k][0].Typical.OK { // no TTFT to compare with
			out.Learned = append(out.Learned, kind)
		}
	}
	b.benchmarks[j.Key()] = out
}

// choose returns the written value, the only value or the fallback, and whether it is among all.
func choose[T comparable](written bool, value T, all []T, fallback T) (T, bool) {
	switch {
	case written:
		return value, slices.Contains(all, value)
	case len(all) == 1:
		return all[0], true
	}
	return fallback, slices.Contains(all, fallback)
}

// baselineVariant chooses the variant, by default the only one or the one with the target's name.
func (b *builder) baselineVariant(path string, t fileTraffic, f *benchmarkFile, target string) (string, bool) {
	at := path + ".baseline_variant"
	variant, ok := choose(b.Has(at), t.BaselineVariant, f.Variants, target)
	switch {
	case ok:
	case b.Has(at):
		b.Mistake(at, variant, "is not a variant of the baseline_file", yamlform.Suggest(variant, f.Variants, "variants"))
	default:
		b.Mistake(at, "", fmt.Sprintf("is missing: the baseline_file has several, and none is called %q as the target", target), "name one of the variants "+yamlform.Sequence(f.Variants))
	}
	return variant, ok
}

// baselineLevel chooses the level, by default the only one or the load of the job itself.
func (b *builder) baselineLevel(path string, t fileTraffic, f *benchmarkFile, variant string, load workload.Traffic) (float64, bool) {
	at := path + ".baseline_level"
	own := load.Rate
	if f.Kind == runfile.Concurrency {
		own = float64(load.Concurrency)
	}
	levels := f.levels(variant)
	level, ok := choose(b.Has(at), t.BaselineLevel, levels, own)
	switch {
	case len(levels) == 0:
		b.Mistake(b.presentOrFile(path, "baseline_variant"), variant, "was not measured at any level", "choose another variant, or finish the sweep with --resume")
	case ok:
	case b.Has(at):
		b.Mistake(at, number(level), fmt.Sprintf("is not a level of %q", variant), "write one of the measured levels: "+levelList(f, variant))
	default:
		b.Mistake(at, "", fmt.Sprintf("is missing: %q was measured at several levels", variant), "write the expected one: "+levelList(f, variant))
	}
	return level, ok
}

// presentOrFile returns the path of a key if it is present, otherwise that of baseline_file.
func (b *builder) presentOrFile(path, key string) string {
	if at := path + "." + key; b.Has(at) {
		return at
	}
	return path + ".baseline_file"
}

// levelList returns text such as "concurrency 10, 20 and 30".
func levelList(f *benchmarkFile, variant string) string {
	var levels []string
	for _, l := range f.levels(variant) {
		levels = append(levels, number(l))
	}
	return string(f.Kind) + " " + yamlform.Sequence(levels)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
