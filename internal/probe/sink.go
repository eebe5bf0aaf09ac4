package probe

// Sink receives the turns of a conversation. Its methods are called from the
// goroutine of the conversation and must not block: never between a read and
// its timestamp, always between turns.
type Sink interface {
	TurnStarted(Start)
	TurnEnded(Result)
}

// ConversationStart announces a conversation.
type ConversationStart struct {
	Target, Workload string
}

// Skip is a conversation that was due and not started, with the reason.
type Skip struct {
	Target, Workload, Reason string
}
