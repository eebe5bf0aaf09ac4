// Package replay drives a simulated cluster with the workload of a plan, without HTTP: a closed loop
// of multi-turn chats, or an open loop of recorded prompts. It computes the figures that the report of
// the plan has.
package replay

import (
	"time"

	"synthetic/internal/simulate/cluster"
)

// turn is a request from the view of its client. Times are since the start.
type turn struct {
	// Conversation and Index number the turn, from 0.
	Conversation, Index int
	Sent, First, End    time.Duration
	Prompt, Cached      int
	// Output is the number of received tokens, Burst the number of tokens in the first
	// event.
	Output, Burst int
	// Outcome is cluster.Done for a complete answer and cluster.Tokens for a turn that had
	// not ended when the replay did.
	Outcome cluster.Kind
}

// TTFT is the time to the first token.
func (t *turn) TTFT() time.Duration { return t.First - t.Sent }

// Latency is the time to the end of the answer.
func (t *turn) Latency() time.Duration { return t.End - t.Sent }

// TPOT is the time per output token after the first event; false if no token followed.
func (t *turn) TPOT() (time.Duration, bool) {
	if t.Output <= t.Burst {
		return 0, false
	}
	return (t.End - t.First) / time.Duration(t.Output-t.Burst), true
}

// observe updates a turn with an event and reports whether the turn has ended.
func (t *turn) observe(e cluster.Event) bool {
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
