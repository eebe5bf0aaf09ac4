// Package siblings compares the replicas of a service with each other. It finds a replica that
// is slower, or fails more, than its siblings in the same minutes, without any baseline.
//
// Siblings are the targets of one service with the same workload, or the workers behind a front
// door that answers name. A change of all siblings moves their median and is not reported here.
// The package is pure: the same turns at the same times give the same scores.
// docs/background/siblings.md has the statistics and their quality.
package siblings

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

const (
	// step is the time between comparisons.
	step = 10 * time.Second
	// steps is the number of steps kept of each replica.
	steps = 60
	// leastReplicas are needed for a comparison, and leastTurns for a replica to take part.
	leastReplicas, leastTurns = 3, 3
	// maxWorkers bounds the workers of a front door, maxName the bytes of a worker's name.
	maxWorkers, maxName = 128, 128
	// forgotten is the number of steps without a turn after which a worker is dropped.
	forgotten = int64(15 * time.Minute / step)
	// settling is the number of steps in which all replicas count as already warm. Later ones
	// start cold.
	settling = int64(2 * time.Minute / step)
	// restarted is the number of consecutive unanswered turns that may be a restart.
	restarted = 2
	hour      = int64(time.Hour / step)
	// first is the number of the first step, large enough for windows and restarts to look
	// back.
	first = hour + steps
	// clip bounds the distance of a turn from the level of all.
	clip = 2.0
	// month is the period of the rate of false pages, in steps.
	month = float64(30 * 24 * time.Hour / step)
)

// Turns are compared within strata: by kind of turn, by whether the prompt was cached, and by
// signal.
const (
	kinds   = len(sink.Figures{})
	signals = len(sink.Figures{}[0]) // as sink.Signals
	strata  = kinds * 2 * signals
)

// stratum returns the index of a turn's stratum for a signal.
func stratum(r *probe.Result, signal int) int {
	cached := 0
	if 2*r.CachedTokens.V > r.PromptTokens.V {
		cached = 1
	}
	return (r.Kind.Index()*2+cached)*signals + signal
}

// windowSteps returns the lengths of the windows: short ones detect large differences, long
// ones small differences.
func windowSteps() [windows]int { return [windows]int{3, 6, 18, steps} }

const (
	windows = 4
	// shown is the window of the exported ratio, which also decides when a page ends.
	shown = 2
)

// View shows how a replica compares with its siblings.
type View struct {
	// Role of the target, "" for none.
	Service, Role, Target, Workload string
	// Worker is its name behind a front door; "" for a target.
	Worker string
	// Score is how near it is to a page; from 1 on it pages.
	Score float64
	// Ratios are its recent latencies divided by the median of all, by index of probe.TurnKinds
	// and sink.Signals; NaN if unknown.
	Ratios [kinds][signals]float64
	// share of its recent turns that failed; NaN without a turn
	Failed float64
}
