// Package replay drives a simulated cluster with the workloads of measured
// benchmarks, and measures what their clients measured: closed-loop multi-turn
// chat at a concurrency, and an open loop at Poisson arrivals.
package replay

import (
	"time"

	"synthetic/internal/simulate/cluster"
)

// Turn is one request as its client saw it. Times are since the start.
type Turn struct {
	// Conversation and Index number the turn, from 0.
	Conversation, Index int
	Sent, First, End    time.Duration
	Prompt, Cached      int
	// Output is the tokens that came, Burst those of the first event.
	Output, Burst int
	// Outcome is cluster.Done for a whole answer, cluster.Tokens for a turn
	// that was not over when the replay was.
	Outcome cluster.Kind
}

// TTFT is the time to the first token.
func (t *Turn) TTFT() time.Duration { return t.First - t.Sent }

// Latency is the time to the end.
func (t *Turn) Latency() time.Duration { return t.End - t.Sent }

// TPOT is the time per output token after the first event; false if it has
// none.
func (t *Turn) TPOT() (time.Duration, bool) {
	if t.Output <= t.Burst {
		return 0, false
	}
	return (t.End - t.First) / time.Duration(t.Output-t.Burst), true
}

// observe brings a turn up to date with an event, and returns whether it has
// ended.
func (t *Turn) observe(e cluster.Event) bool {
	if e.Kind != cluster.Tokens {
		t.End, t.Outcome = e.At, e.Kind
		return true
	}
	if t.Output == 0 {
		t.First, t.Burst, t.Cached = e.At, e.Tokens, e.Cached
	}
	t.Output += e.Tokens
	return false
}
