package main

import (
	"fmt"

	"synthetic/internal/simulate/cluster"
)

// played is a series with what the model makes of it.
type played struct {
	report, title string
	series
	model []level
}

// play simulates all series of all reports, and one that no report has: the
// near-full cluster with round-robin routing.
func play(seeds int) ([]played, error) {
	all, err := reports()
	if err != nil {
		return nil, err
	}
	var runs []played
	for _, r := range all {
		for _, s := range r.Series {
			runs = append(runs, played{report: r.Name, title: r.Title, series: s})
		}
	}
	near := series{Preset: "trtllm-rr"}
	for _, n := range []float64{160, 180, 200} {
		near.Levels = append(near.Levels, level{"load": n})
	}
	runs = append(runs, played{report: "none", series: near})

	errs := make([]error, len(runs))
	both(len(runs), func(i int) {
		config, err := cluster.Preset(runs[i].Preset)
		if err == nil {
			runs[i].model, err = simulate(runs[i].series, config, seeds)
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
