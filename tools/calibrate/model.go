package main

import (
	"fmt"

	"synthetic/internal/config"
	"synthetic/internal/fleet"
	"synthetic/internal/simulate/cluster"
	"synthetic/tools/calibrate/replay"
)

// loadPlan reads the plan of a report.
func loadPlan(root, name string) (fleet.Plan, error) {
	return config.LoadPlan(root+"plans/"+name+".yml", cluster.Presets())
}

// simulate runs the plan against the preset of a series, once per seed.
func (p *played) simulate(plan fleet.Plan) error {
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
	p.leavesOut = plan.Repetitions > 1
	for i := range plan.Levels {
		p.model = append(p.model, average(p.counted(i)))
	}
	return nil
}

// mostErrors is the percentage of failed turns above which a report with repetitions leaves a run out.
const mostErrors = 5

// counted returns the runs of a level that count, as in the report: those with few errors, or all if none has few.
func (p *played) counted(i int) (all []level) {
	for _, run := range p.runs {
		if !p.leavesOut || run[i]["error_pct"] <= mostErrors {
			all = append(all, run[i])
		}
	}
	if all != nil {
		return all
	}
	for _, run := range p.runs {
		all = append(all, run[i])
	}
	return all
}

// inUnits converts figures to the names and units of the reports.
func inUnits(f replay.LevelFigures, load float64) level {
	return level{
		"load": load, "tokens_per_s": f.Tokens, "error_pct": f.Errors * 100, "hit_pct": f.Hits * 100,
		"ttft_p50_ms": f.TTFT.P50 * 1e3, "ttft_p95_ms": f.TTFT.P95 * 1e3, "ttft_p99_ms": f.TTFT.P99 * 1e3,
		"tpot_p50_ms": f.TPOT.P50 * 1e3, "itl_p50_ms": f.Gap.P50 * 1e3,
	}
}

// average returns the mean of the runs of one level.
func average(runs []level) level {
	mean := level{}
	for name := range runs[0] {
		for _, r := range runs {
			mean[name] += r[name] / float64(len(runs))
		}
	}
	return mean
}
