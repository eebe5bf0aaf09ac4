package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
)

// report is a published benchmark report.
type report struct {
	Name string
	// Plan is the name of the plan that repeats the measurement.
	Plan   string
	Series []series
}

// series is a deployment at increasing load.
type series struct {
	// Preset is the name of the deployment.
	Preset string
	Levels []level
}

// level maps names of figures, and "load", to their values at one load. Figures that the
// report lacks are missing.
type level map[string]float64

// get returns a figure, NaN if it is missing.
func (l level) get(name string) float64 {
	if v, ok := l[name]; ok {
		return v
	}
	return math.NaN()
}

//go:embed reports/*.json
var files embed.FS

// reports reads the five reports.
func reports() ([]report, error) {
	var all []report
	for _, name := range []string{"phase0", "eagle3", "trtllm", "trtllm-near-full", "bench"} {
		b, err := fs.ReadFile(files, "reports/"+name+".json")
		if err != nil {
			return nil, fmt.Errorf("read report %q: %w", name, err)
		}
		var r report
		if err := json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("read report %q: %w", name, err)
		}
		all = append(all, r)
	}
	return all, nil
}
