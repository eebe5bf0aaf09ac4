package sidecar

import (
	"fmt"

	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// sinkJob is a job of a configuration as the sinks know it.
func sinkJob(cfg *config.Config, j probe.Job) sink.Job {
	out := sink.Job{Job: j, Changes: cfg.ChangesOf(j.Target.Name)}
	for _, o := range cfg.SLOs {
		if o.CoversJob(j.Target.Name, j.Workload.Name) {
			out.Objectives = append(out.Objectives, o)
		}
	}
	for _, m := range cfg.ServerMetrics {
		out.ServerMetrics = out.ServerMetrics || m.Target.Name == j.Target.Name
	}
	if b, ok := cfg.BaselineOf(j.Target.Name, j.Workload.Name); ok {
		out.Benchmark = Benchmark(b)
	}
	return out
}

// Benchmark is a baseline of a configuration as the sinks know it.
func Benchmark(b config.Baseline) *sink.Benchmark {
	return &sink.Benchmark{
		Run: b.Run, Variant: b.Variant, Kind: string(b.Kind), Level: b.Level,
		Pooled: b.Expected.Pooled, Figures: b.Expected.Benchmarks,
	}
}

// Cautions say of the benchmarks what they cannot be compared with.
func Cautions(cfg *config.Config) []string {
	var out []string
	for _, b := range cfg.Baselines {
		for _, kind := range b.Learned {
			why := "too few of them were measured"
			if b.Expected.Pooled {
				why = "the file does not tell the kinds of turn apart"
			}
			out = append(out, fmt.Sprintf("%s to %s: the usual level of %s turns is learned and not that of %s, since %s", b.Workload, b.Target, kind, Benchmark(b).Source(), why))
		}
	}
	return out
}
