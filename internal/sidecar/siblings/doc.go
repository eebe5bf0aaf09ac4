// Package siblings compares the replicas of a service with each other: the one
// that is slower, or fails more, than its siblings do on the same minutes is named,
// before anything is known of what is usual.
//
// Siblings are the targets of one service, probed with the same workload, or the
// workers behind a front door that its answers name. What all have in common moves
// their median, and is nothing here. It is pure: the same turns at the same times
// give the same scores. docs/background/siblings.md has the statistics, and what
// they are worth.
package siblings

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

const (
	// step is how often siblings are compared.
	step = 10 * time.Second
	// steps are kept of each replica.
	steps = 60
	// least replicas tell which of them is unlike the others, and least turns what
	// one is like.
	leastReplicas, leastTurns = 3, 3
	// maxWorkers bounds the workers of a front door, and maxName the bytes of the
	// name of one.
	maxWorkers, maxName = 128, 128
	// forgotten is after how many steps without a turn a worker is gone.
	forgotten = int64(15 * time.Minute / step)
	// settling is for how long the replicas that are seen are those that were there
	// before: no later one starts cold.
	settling = int64(2 * time.Minute / step)
	// restarted is how many turns in a row that nobody answered may be a restart.
	restarted = 2
	hour      = int64(time.Hour / step)
	// first is the step that all begins with, late enough for windows and for restarts
	// to look back from.
	first = hour + steps
	// clip is how far a turn can lie from the level of all.
	clip = 2.0
	// month is what pages for nothing are counted in, in steps.
	month = float64(30 * 24 * time.Hour / step)
)

// Strata are compared like with like: by kind of turn, by whether its prompt was
// cached, and by signal.
const (
	kinds   = len(sink.Figures{})
	signals = len(sink.Figures{}[0]) // as sink.Signals
	strata  = kinds * 2 * signals
)

// stratum is the index of a turn's signal.
func stratum(r *probe.Result, signal int) int {
	cached := 0
	if 2*r.CachedTokens.V > r.PromptTokens.V {
		cached = 1
	}
	return (r.Kind.Index()*2+cached)*signals + signal
}

// windowSteps are over how many steps replicas are compared: a short window sees
// what is large, a long one what is small.
func windowSteps() [windows]int { return [windows]int{3, 6, 18, steps} }

const (
	windows = 4
	// shown is the window of the ratio that is exported, and of the end of a page.
	shown = 2
)

// View is how a replica compares with its siblings.
type View struct {
	// Role is the target's, "" for none.
	Service, Role, Target, Workload string
	// Worker is its name behind a front door; "" for a target that is a replica.
	Worker string
	// Score is how near it is to a page: from 1 on it is one.
	Score float64
	// Ratios are those of its latency over the median of all, in the last minutes,
	// by index of probe.TurnKinds and of sink.Signals; NaN where not known.
	Ratios [kinds][signals]float64
	// Failed is the share of its turns that failed lately; NaN without a turn.
	Failed float64
}
