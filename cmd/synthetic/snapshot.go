package main

import (
	"fmt"
	"slices"
	"time"

	"synthetic/internal/config"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/sidecar/status"
)

// sinkJobs are the jobs of a configuration as the recorder knows them.
func sinkJobs(cfg *config.Config) []sink.Job {
	read := map[string]bool{}
	for _, m := range cfg.ServerMetrics {
		read[m.Target.Name] = true
	}
	var out []sink.Job
	for _, j := range cfg.Jobs {
		one := sink.Job{Job: j, Changes: cfg.ChangesOf(j.Target.Name), ServerMetrics: read[j.Target.Name]}
		for _, o := range cfg.SLOs {
			if slices.ContainsFunc(probe.TurnKinds(), func(k probe.TurnKind) bool { return o.Covers(j.Target.Name, j.Workload.Name, k) }) {
				one.Objectives = append(one.Objectives, o)
			}
		}
		if b, ok := cfg.BaselineOf(j.Target.Name, j.Workload.Name); ok {
			one.Benchmark = &sink.Benchmark{
				Run: b.Run, Variant: b.Variant, Kind: string(b.Kind), Level: b.Level,
				Pooled: b.Expected.Pooled, Figures: b.Expected.Benchmarks,
			}
		}
		out = append(out, one)
	}
	return out
}

// expectedOf is what the page shows of the benchmarks.
func expectedOf(cfg *config.Config) []status.Expected {
	var out []status.Expected
	for _, b := range cfg.Baselines {
		e := status.Expected{Target: b.Target, Workload: b.Workload, Pooled: b.Expected.Pooled, Source: sourceOf(b)}
		for k, kind := range []*status.ExpectedKind{&e.First, &e.Followup} { // as probe.TurnKinds
			of := b.Expected.Benchmarks[k]
			kind.TTFT, kind.TPOT = quantilesOf(of[0]), quantilesOf(of[1]) // as regression.Signals
		}
		out = append(out, e)
	}
	return out
}

// cautions say of the benchmarks what they cannot be compared with.
func cautions(cfg *config.Config) []string {
	var out []string
	for _, b := range cfg.Baselines {
		for _, kind := range b.Learned {
			why := "too few of them were measured"
			if b.Expected.Pooled {
				why = "the file does not tell the kinds of turn apart"
			}
			out = append(out, fmt.Sprintf("%s to %s: the usual level of %s turns is learned and not that of %s, since %s", b.Workload, b.Target, kind, sourceOf(b), why))
		}
	}
	return out
}

// sourceOf says where a benchmark was measured.
func sourceOf(b config.Baseline) string {
	return fmt.Sprintf("%s of %s at %s %g", b.Variant, b.Run, b.Kind, b.Level)
}

func quantilesOf(b regression.Benchmark) status.Quantiles {
	known := func(d time.Duration) status.Duration {
		return status.Duration(probe.Opt[time.Duration]{V: d, OK: d > 0})
	}
	return status.Quantiles{Count: b.Samples, P50: known(b.Quantiles[0]), P95: known(b.Quantiles[1]), P99: known(b.Quantiles[2])}
}
