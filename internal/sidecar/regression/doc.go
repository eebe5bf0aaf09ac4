// Package regression says of each turn how it compares with what is usual: it
// keeps, per target, workload, kind of turn and signal, the moments of the
// logarithm, a baseline that does not slide, and a CUSUM on the logarithm of
// their ratio.
//
// It is pure: the same results at the same times give the same numbers, and no
// goroutine runs. docs/background/regression.md explains the statistics, and
// docs/background/alert-quality.md measures what they are worth.
package regression

import (
	"time"

	"synthetic/internal/probe/workload"
)

// Signal is a latency whose regression is detected.
type Signal string

const (
	// TTFT is the time to first token.
	TTFT Signal = "ttft"
	// TPOT is the time per output token.
	TPOT Signal = "tpot"
)

// Signals lists every signal, in the order of their index.
func Signals() []Signal { return []Signal{TTFT, TPOT} }

const (
	kinds   = 2
	signals = 2
)

// Options are what a Job cannot know by itself.
type Options struct {
	// Timeouts of its workload are what a turn that never got its value waited
	// for.
	Timeouts workload.Timeouts
	// Thresholds are the absolute objectives, by kind of turn and signal, that
	// stand in for a young baseline; 0 is none.
	Thresholds [kinds][signals]time.Duration
	// Benchmarks stand in for the learned baselines, by kind and signal.
	Benchmarks Benchmarks
	// Changes are the declared change windows of the target.
	Changes []Change
}
