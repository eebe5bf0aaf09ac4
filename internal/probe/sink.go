package probe

// Sink receives the turns of a conversation. Its methods are called from the
// goroutine of the conversation and must not block: never between a read and
// its timestamp, always between turns.
type Sink interface {
	TurnStarted(Start)
	TurnEnded(Result)
}
