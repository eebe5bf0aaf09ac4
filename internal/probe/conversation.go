package probe

import "time"

// Conversation is one finished conversation, which routers and agents call a session.
type Conversation struct {
	Target, Workload, ID string
	// TraceID is the trace of all turns. SpanID is the span of the conversation; "" if it is not
	// exported.
	TraceID, SpanID string
	// Scheduled is when the first turn was due, and End when the last turn ended.
	Scheduled, End time.Time
	// Outcome is that of the last turn, or Canceled. A failed turn ends the conversation.
	Outcome Outcome
	// Turns counts all turns, including those that send the results of tool calls.
	Turns int
	// Shortened is true if turns were omitted because the history was too long, or because an
	// answer had no content for it.
	Shortened bool
}
