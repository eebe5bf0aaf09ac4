package main

import (
	"fmt"

	"golang.org/x/sync/errgroup"
)

// played is a series and its simulation.
type played struct {
	report, plan string
	series
	runs      [][]level // by seed
	leavesOut bool      // the report has repetitions, and leaves out those with many errors
	model     []level   // means over the seeds that count
}

// seeds is the number of runs over which figures are averaged.
const seeds = 6

// play runs the plan of every report, for all its series. root is the root of the repository.
func play(root string) ([]played, error) {
	all, err := reports()
	if err != nil {
		return nil, err
	}
	var runs []played
	for _, r := range all {
		for _, s := range r.Series {
			runs = append(runs, played{report: r.Name, plan: r.Plan, series: s})
		}
	}
	var group errgroup.Group
	group.SetLimit(2)
	for i := range runs {
		group.Go(func() error {
			plan, err := loadPlan(root, runs[i].plan)
			if err != nil {
				return fmt.Errorf("report %q: %w", runs[i].report, err)
			}
			return runs[i].simulate(plan)
		})
	}
	return runs, group.Wait()
}
