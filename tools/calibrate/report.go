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

// figure is a kind of measurement.
type figure struct {
	name, title string
	digits      int
}

// figures lists all figures in the order of the tables.
func figures() []figure {
	return []figure{
		{"tpot_p50_ms", "TPOT p50 (ms)", 1}, {"tpot_p95_ms", "TPOT p95 (ms)", 1}, {"tpot_p99_ms", "TPOT p99 (ms)", 1},
		{"itl_p50_ms", "ITL p50 (ms)", 1}, {"itl_p99_ms", "ITL p99 (ms)", 1},
		{"ttft_p50_ms", "TTFT p50 (ms)", 0}, {"ttft_p95_ms", "TTFT p95 (ms)", 0}, {"ttft_p99_ms", "TTFT p99 (ms)", 0},
		{"latency_p50_ms", "Latency p50 (ms)", 0}, {"latency_p95_ms", "Latency p95 (ms)", 0},
		{"error_pct", "Errors (%)", 1}, {"hit_pct", "Hit rate (%)", 1},
		{"turns_per_s", "Turns/s", 2}, {"tokens_per_s", "Output tokens/s", 0}, {"max_concurrent", "Max concurrent", 0},
	}
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
