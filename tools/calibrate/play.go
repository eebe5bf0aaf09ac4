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
	model, spread []level
}

// Figures are averages over seeds runs. The spread near full batches comes from
// seedsNearFull runs.
const seeds, seedsNearFull = 3, 6

// play simulates all series of all reports. It adds a series that no report has completely:
// three workers up to full batches, with both routers.
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
	var near []level
	for n := 120.; n <= 200; n += 10 {
		near = append(near, level{"load": n})
	}
	for _, preset := range []string{"trtllm-rr", "trtllm-kv"} {
		runs = append(runs, played{report: "none", series: series{Preset: preset, Levels: near}})
	}

	var two errgroup.Group
	two.SetLimit(2)
	for i := range runs {
		two.Go(runs[i].play)
	}
	return runs, two.Wait()
}

func (p *played) play() error {
	n := seeds
	if p.report == "none" {
		n = seedsNearFull
	}
	config, err := cluster.Preset(p.Preset)
	if err == nil {
		p.model, p.spread, err = simulate(p.series, config, n)
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
