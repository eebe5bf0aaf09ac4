// Package regression says of each turn how it compares with what is usual: it
// keeps, per target, workload, kind of turn and signal, the moments of the
// logarithm, a baseline of four weeks that learns no regression, the minutes of the
// same time, and limits that are chosen from them.
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
	// Thresholds are those of the strictest objectives, by kind of turn and signal,
	// and Budgets the share of turns that may be beyond; 0 is none.
	Thresholds [kinds][signals]time.Duration
	Budgets    [kinds][signals]float64
	// Benchmarks stand in for the learned baselines, by kind and signal.
	Benchmarks Benchmarks
	// Changes are the declared change windows of the target.
	Changes []Change
	// Policy says what a regression is; the zero value means DefaultPolicy.
	Policy Policy
}

// Benchmarks are by index of probe.TurnKinds and of Signals.
type Benchmarks [kinds][signals]Benchmark

// Benchmark is what a benchmark run measured of a signal. The zero value is
// none.
type Benchmark struct {
	// Typical is the geometric mean, which stands in for the learned baseline; 0
	// where it is not known, and the baseline is learned.
	Typical time.Duration
	// Quantiles, by index of the function of that name, are to be shown beside
	// the live ones; 0 where too few turns were measured to tell.
	Quantiles [quantiles]time.Duration
	// Samples is how many turns it stands on; 0 where that is not known.
	Samples int
	// Noise is the standard deviation of the logarithm of the 30-minute level;
	// 0 leaves it to be learned.
	Noise float64
}

const quantiles = 3

// Quantiles lists those of a Benchmark.
func Quantiles() []float64 { return []float64{0.5, 0.95, 0.99} }
