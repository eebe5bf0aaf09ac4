package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"synthetic/internal/sidecar/regression"
)

// baselines is a state file with what each of the demo's deployments is
// like on a day on which all is well. A new prober needs a day to learn that;
// the demo has minutes. "make demo-baselines" learns it in virtual time.
//
//go:embed baselines.json
var baselines []byte

// workload is the one workload of demo.yml.
const workload = "chat"

// Baselines are what is usual for targets, by their own names. In the state file
// they go by what is usual for them.
func Baselines(targets []Target) (regression.File, error) {
	var known, out regression.File
	if err := json.Unmarshal(baselines, &known); err != nil {
		return out, fmt.Errorf("reading the demo's baselines: %w", err)
	}
	for _, t := range targets {
		i := slices.IndexFunc(known.Jobs, func(j regression.JobState) bool { return j.Target == t.Usual })
		if i < 0 {
			return out, fmt.Errorf("there is no baseline %q for the demo's target %q; make demo-baselines", t.Usual, t.Name)
		}
		state := known.Jobs[i]
		state.Target, state.Workload = t.Name, workload
		out.Jobs = append(out.Jobs, state)
	}
	return out, nil
}
