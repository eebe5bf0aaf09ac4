package dashboard

import (
	"time"

	"synthetic/internal/probe/workload"
)

// samplesPerWindow is the number of conversation starts that a window should contain. With 20,
// the p95 is the second largest value; with fewer, a quantile says little.
const samplesPerWindow = 20

// stepsPerWindow is Grafana's ratio of $__rate_interval to the min step.
const stepsPerWindow = 4

// resolutions returns the choices of the panels' smallest step.
func resolutions() []string { return []string{"1m", "5m", "15m", "1h"} }

// resolution returns the finest step at which a window of the slowest traffic has enough
// samples. Closed-loop traffic has no known rate and is ignored.
func resolution(traffic []workload.Traffic) string {
	choices := resolutions()
	fit := 0
	for _, t := range traffic {
		if t.Rate <= 0 {
			continue
		}
		need := time.Duration(samplesPerWindow / t.Rate * float64(time.Second))
		for fit < len(choices)-1 && windowOf(choices[fit]) < need {
			fit++
		}
	}
	return choices[fit]
}

// windowOf returns the window of one of the resolutions.
func windowOf(resolution string) time.Duration {
	step, _ := time.ParseDuration(resolution)
	return stepsPerWindow * step
}
