package probe

import (
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe/workload"
)

// Plan is one conversation to be held.
type Plan struct {
	Conversation workload.Conversation
	// ID names the conversation in results.
	ID string
	// Scheduled is when the arrival process wanted the first turn.
	Scheduled time.Time
	// Extra says that it belongs to a burst: without one it would not be held.
	Burst bool
	// Model is sent in each request.
	Model string
	// Stop, once closed, lets the turn in flight finish and starts no other.
	// A nil Stop never stops.
	Stop <-chan struct{}
	// Room is what the conversation has reserved of the memory for texts, Cost
	// of its opening or more; it grows with the turns. nil is without bound.
	Room *bound.Claim
}
