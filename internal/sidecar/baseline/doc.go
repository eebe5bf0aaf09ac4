// Package baseline compares each turn with its baseline. For each job, kind of turn and signal
// it keeps the moments of the logarithm, a baseline of four weeks that learns no regression,
// the minutes of the same period, and limits chosen from these minutes.
//
// A job is pure: the same results at the same times give the same numbers, and no goroutine
// runs. Tracker holds the jobs of a sidecar. docs/background/regression.md explains the
// statistics, and docs/background/alert-quality.md measures their quality.
package baseline

import (
	"time"

	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

const (
	kinds   = 2 // of probe.TurnKinds
	signals = 2 // of sink.Signals
)

type options struct {
	// Timeouts of the workload: the waiting time of a turn that never got its value.
	Timeouts workload.Timeouts
	// Thresholds and Budgets are the thresholds and error budgets of the strictest objectives
	// by kind of turn and signal; 0 without an objective.
	Thresholds [kinds][signals]time.Duration
	Budgets    [kinds][signals]float64
	Changes    []sink.Change
	Hours      workload.Hours
	// Location is the time zone of the target's users, whose week the level follows; nil means UTC.
	Location *time.Location
	// Policy says when a change is a regression; the zero value means DefaultPolicy.
	Policy sink.Policy
}
