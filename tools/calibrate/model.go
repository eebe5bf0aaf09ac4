package main

import (
	"fmt"

	"synthetic/internal/config"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/study/sweep"
	"synthetic/tools/calibrate/replay"
)

// loadPlan reads the plan of a report.
func loadPlan(root, name string) (sweep.Plan, error) {
	return config.LoadPlan(root+"plans/"+name+".yml", cluster.Presets())
}

// simulate runs the plan against the preset of a series, once per seed.
func (p *played) simulate(plan sweep.Plan) error {
	for seed := range uint64(seeds) {
		measured, err := replay.Run(plan, p.Preset, seed+1)
		if err != nil {
			return fmt.Errorf("report %q, preset %q: %w", p.report, p.Preset, err)
		}
		var run []level
		for i, f := range measured {
			run = append(run, inUnits(f, plan.Levels[i]))
		}
		p.runs = append(p.runs, run)
	}
	p.model = average(p.runs)
	return nil
}

// inUnits converts figures to the names and units of the reports.
func inUnits(f replay.LevelFigures, load float64) level {
	return level{
		"load":        load,
		"ttft_p50_ms": f.TTFT.P50 * 1e3, "ttft_p95_ms": f.TTFT.P95 * 1e3, "ttft_p99_ms": f.TTFT.P99 * 1e3,
		"tpot_p50_ms": f.TPOT.P50 * 1e3, "tpot_p95_ms": f.TPOT.P95 * 1e3, "tpot_p99_ms": f.TPOT.P99 * 1e3,
		"latency_p50_ms": f.Latency.P50 * 1e3, "latency_p95_ms": f.Latency.P95 * 1e3,
		"error_pct": f.Errors * 100, "hit_pct": f.Hits * 100,
		"turns_per_s": f.Turns, "tokens_per_s": f.Tokens,
		"itl_p50_ms": f.Gap.P50 * 1e3, "itl_p99_ms": f.Gap.P99 * 1e3, "max_concurrent": float64(f.MaxConcurrent),
	}
}

// average returns the mean of runs for each level.
func average(runs [][]level) (mean []level) {
	for i := range runs[0] {
		m := level{}
		for name := range runs[0][i] {
			for _, r := range runs {
				m[name] += r[i][name] / float64(len(runs))
			}
		}
		mean = append(mean, m)
	}
	return mean
}
