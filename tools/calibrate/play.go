package main

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"synthetic/internal/simulate/cluster"
)

// played is a series and its simulation.
type played struct {
	report string
	series
	model []level
}

// seeds is the number of runs over which figures are averaged.
const seeds = 3

// play simulates all series of all reports.
func play() ([]played, error) {
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
	var group errgroup.Group
	group.SetLimit(2)
	for i := range runs {
		group.Go(runs[i].play)
	}
	return runs, group.Wait()
}

func (p *played) play() error {
	config, err := cluster.Preset(p.Preset)
	if err == nil {
		p.model, err = simulate(p.series, config)
	}
	if err != nil {
		return fmt.Errorf("report %q: %w", p.report, err)
	}
	return nil
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
