package main

import (
	"fmt"

	"synthetic/internal/simulate/cluster"
)

// played is a series with what the model makes of it.
type played struct {
	report string
	series
	model, spread []level
}

// seedsNearFull is how many runs the spread near full batches is taken from.
const seedsNearFull = 6

// play simulates all series of all reports, and one that no report has whole:
// three workers up to the last place in their batches, with both routers.
func play(seeds int) ([]played, error) {
	all, err := reports()
	if err != nil {
		return nil, err
	}
	var runs []played
	for _, r := range all {
		for _, s := range r.Series {
			runs = append(runs, played{report: r.Name, series: s})
		}
	}
	var near []level
	for n := 120.; n <= 200; n += 10 {
		near = append(near, level{"load": n})
	}
	for _, preset := range []string{"trtllm-rr", "trtllm-kv"} {
		runs = append(runs, played{report: "none", series: series{Preset: preset, Levels: near}})
	}

	errs := make([]error, len(runs))
	both(len(runs), func(i int) {
		config, err := cluster.Preset(runs[i].Preset)
		if err == nil {
			n := seeds
			if runs[i].report == "none" {
				n = max(n, seedsNearFull)
			}
			runs[i].model, runs[i].spread, err = simulate(runs[i].series, config, n)
		}
		errs[i] = err
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("report %q: %w", runs[i].report, err)
		}
	}
	return runs, nil
}

// find returns a series by report and preset.
func find(runs []played, report, preset string) played {
	for _, p := range runs {
		if p.report == report && p.Preset == preset {
			return p
		}
	}
	panic(fmt.Sprintf("there is no series %q in a report %q", preset, report))
}
