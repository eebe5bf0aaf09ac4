package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
)

// demoBaselines is a state file with what each of the demo's deployments is
// like on a day on which all is well. A new prober needs a day to learn that;
// the demo has minutes. "make demo-baselines" learns it in virtual time.
//
//go:embed demo_baselines.json
var demoBaselines []byte

// demoWorkload is the one workload of demo.yml.
const demoWorkload = "chat"

// startUsual lets a recorder begin with the baselines of the demo's targets.
func startUsual(r *metrics.Recorder, targets []demoTarget) error {
	usual, err := usualOf(targets, demoBaselines)
	if err != nil {
		return err
	}
	r.RestoreBaselines(usual)
	return nil
}

// usualOf picks the baselines of targets out of a state file in which they go by
// what is usual for them.
func usualOf(targets []demoTarget, stateFile []byte) (regression.File, error) {
	var known, out regression.File
	if err := json.Unmarshal(stateFile, &known); err != nil {
		return out, fmt.Errorf("reading the demo's baselines: %w", err)
	}
	for _, t := range targets {
		i := slices.IndexFunc(known.Jobs, func(j regression.JobState) bool { return j.Target == t.usual })
		if i < 0 {
			return out, fmt.Errorf("there is no baseline %q for the demo's target %q; make demo-baselines", t.usual, t.name)
		}
		state := known.Jobs[i]
		state.Target, state.Workload = t.name, demoWorkload
		out.Jobs = append(out.Jobs, state)
	}
	return out, nil
}
