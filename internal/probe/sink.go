package probe

// Event is what happens in a job: a Start and a Result for each turn, a
// ConversationStart and a Conversation around them, a Skip for a conversation
// that was due and not started, a ModelFound when the target says which model it
// serves, and a LimitLearned when it says how it wants its limit called.
type Event interface {
	// Key names the job.
	Key() Key
}

// Sink receives the events of a job in their order. Observe is called from the
// goroutine of the conversation, of many conversations at once, and must not
// block: never between a read and its timestamp, always between turns.
type Sink interface {
	Observe(Event)
}

// Start announces a turn that is about to be sent.
type Start struct {
	Target, Workload string
	Kind             TurnKind
}

// ConversationStart announces a conversation.
type ConversationStart struct {
	Target, Workload string
}

// Skip is a conversation that was due and not started, with the reason.
type Skip struct {
	Target, Workload, Reason string
}

// Skip reasons: the cap on conversations in flight was reached, the budget of
// tokens was used up, the prober itself was overdue, or its memory for texts was
// used up.
const (
	SkipMaxConcurrency = "max_concurrency"
	SkipBudget         = "budget"
	SkipLate           = "late"
	SkipMemory         = "memory"
)

// SkipReasons lists them all.
func SkipReasons() []string { return []string{SkipMaxConcurrency, SkipBudget, SkipLate, SkipMemory} }

// ModelFound says which model a target turned out to serve.
type ModelFound struct {
	Target, Workload, Model string
}

// Key names the job.
func (s Start) Key() Key             { return Key{s.Target, s.Workload} }
func (r Result) Key() Key            { return Key{r.Target, r.Workload} }
func (s ConversationStart) Key() Key { return Key(s) }
func (c Conversation) Key() Key      { return Key{c.Target, c.Workload} }
func (s Skip) Key() Key              { return Key{s.Target, s.Workload} }
func (m ModelFound) Key() Key        { return Key{m.Target, m.Workload} }
