package dashboard

import (
	"time"

	"synthetic/internal/probe/workload"
)

// samplesPerWindow is how many conversation starts a window should hold: at
// 20 the p95 is the second largest of them, and below that a quantile says
// little.
const samplesPerWindow = 20

// stepsPerWindow is Grafana's factor between min step and $__rate_interval.
const stepsPerWindow = 4

// resolutions are the choices for the smallest step of the panels.
func resolutions() []string { return []string{"1m", "5m", "15m", "1h"} }

// resolution is the finest step at which a window of the slowest traffic
// still holds enough samples; closed-loop traffic, whose rate nobody knows
// beforehand, is left out.
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

// windowOf is the window of a resolution, which is one of ours and so parses.
func windowOf(resolution string) time.Duration {
	step, _ := time.ParseDuration(resolution)
	return stepsPerWindow * step
}
