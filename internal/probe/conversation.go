package probe

import "time"

// Conversation is one finished conversation, which routers and agents call a session.
type Conversation struct {
	Target, Workload, ID string
	// TraceID is the trace of all turns. SpanID is the span of the conversation; "" if it is not
	// exported.
	TraceID, SpanID string
	// Scheduled is when the first turn was due, Sent when it was sent, and End when the last turn ended. Sent
	// is zero without a turn.
	Scheduled, Sent, End time.Time
	// Outcome is that of the last turn, or Canceled. A failed turn ends the conversation.
	Outcome Outcome
	// Turns counts all turns, including those that send the results of tool calls.
	Turns int
	// Shortened is true if turns were omitted because the history was too long, or because an
	// answer had no content for it.
	Shortened bool
	// Burst is true for a conversation that exists only because of a burst.
	Burst bool
	Spent Spent
	// PromptTokens and OutputTokens sum the turns that report them. CachedTokens and CachedOf sum the cached
	// and all prompt tokens of the turns that report both.
	PromptTokens, OutputTokens, CachedTokens, CachedOf int
	// Lag is the maximum that the prober itself may have added to the duration. It has no lag before Sent.
	Lag time.Duration
}

// Spent is where the time of a conversation went.
type Spent struct {
	// FirstToken is the time from sending requests to first tokens: network, queue and prefill. It has the
	// whole duration of a turn without a token.
	FirstToken time.Duration
	// Answer is the time from first tokens to the ends of turns.
	Answer time.Duration
	// Between is the time between turns: tools, and users who read and write.
	Between time.Duration
}

// Duration is the time from sending the first request to the end of the last turn; 0 without a turn.
func (c *Conversation) Duration() time.Duration {
	if c.Sent.IsZero() {
		return 0
	}
	return c.End.Sub(c.Sent)
}

// add adds a finished turn.
func (c *Conversation) add(r *Result) {
	if c.Sent.IsZero() {
		c.Sent = r.Sent
	} else {
		c.Spent.Between += r.Sent.Sub(c.End)
		c.Lag += max(r.ScheduleLag(), 0)
	}
	c.Lag += max(r.Lag, r.StreamLag)
	c.Turns, c.Outcome, c.End = r.Turn, r.Outcome, r.End
	first := r.Duration()
	if r.TTFT.OK {
		first = r.TTFT.V
	}
	c.Spent.FirstToken += first
	c.Spent.Answer += r.Duration() - first
	c.PromptTokens += r.PromptTokens.V
	c.OutputTokens += r.OutputTokens.V
	if r.PromptTokens.OK && r.CachedTokens.OK {
		c.CachedTokens += r.CachedTokens.V
		c.CachedOf += r.PromptTokens.V
	}
}
