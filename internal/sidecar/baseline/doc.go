// Package regression says of each turn how it compares with what is usual: it
// keeps, per target, workload, kind of turn and signal, the moments of the
// logarithm, a baseline of four weeks that learns no regression, the minutes of the
// same time, and limits that are chosen from them.
//
// It is pure: the same results at the same times give the same numbers, and no
// goroutine runs. docs/background/regression.md explains the statistics, and
// docs/background/alert-quality.md measures what they are worth.
package baseline

import (
	"time"

	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

const (
	kinds   = len(sink.Figures{})
	signals = len(sink.Figures{}[0])
)

// Options are what a Job cannot know by itself.
type Options struct {
	// Timeouts of its workload are what a turn that never got its value waited
	// for.
	Timeouts workload.Timeouts
	// Thresholds are those of the strictest objectives, by kind of turn and signal,
	// and Budgets the share of turns that may be beyond; 0 is none.
	Thresholds [kinds][signals]time.Duration
	Budgets    [kinds][signals]float64
	// Benchmarks stand in for the learned baselines, by kind and signal.
	Benchmarks sink.Figures
	// Changes are the declared change windows of the target.
	Changes []sink.Change
	// Policy says what a regression is; the zero value means DefaultPolicy.
	Policy sink.Policy
}
