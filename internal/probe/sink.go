package probe

// Event is something that happens in a job. It is one of ConversationStart, Start, Result,
// Conversation, Skip, Paced, ModelFound and FieldsLearned.
type Event interface {
	// Key returns the job.
	Key() Key
}

// Sink receives the events of jobs. Conversations call Observe concurrently, each in order and
// only between turns. Observe must not block.
type Sink interface {
	Observe(Event)
}

// ConversationStart is the start of a conversation.
type ConversationStart Key

// Start means that a turn is about to be sent.
type Start struct {
	Target, Workload string
	Kind             TurnKind
}

// Skip is a conversation that was due but not started.
type Skip struct {
	Target, Workload, Reason string
}

// Reasons of a Skip.
const (
	// SkipMaxConcurrency: too many conversations are in flight.
	SkipMaxConcurrency = "max_concurrency"
	// SkipBudget: the token budget is spent.
	SkipBudget = "budget"
	// SkipLate: the prober itself is too late.
	SkipLate = "late"
	// SkipMemory: the memory for texts is full.
	SkipMemory = "memory"
)

// SkipReasons returns all reasons.
func SkipReasons() []string { return []string{SkipMaxConcurrency, SkipBudget, SkipLate, SkipMemory} }

// Paced is a change of the rate of starts.
type Paced struct {
	Target, Workload string
	// Rate is the new rate in conversations per second.
	Rate float64
	// Why is one of workload.BurstReasons at the begin of a burst, and "" at its end.
	Why string
}

// ModelFound is the discovery of a target's model.
type ModelFound struct {
	Target, Workload, Model string
}

// FieldsLearned means that a target refuses fields of requests, which are left out from now on.
type FieldsLearned struct {
	Target, Workload string
	// Fields are all fields that are left out.
	Fields []string
}

func (s Start) Key() Key             { return Key{s.Target, s.Workload} }
func (r Result) Key() Key            { return Key{r.Target, r.Workload} }
func (s ConversationStart) Key() Key { return Key(s) }
func (c Conversation) Key() Key      { return Key{c.Target, c.Workload} }
func (s Skip) Key() Key              { return Key{s.Target, s.Workload} }
func (p Paced) Key() Key             { return Key{p.Target, p.Workload} }
func (m ModelFound) Key() Key        { return Key{m.Target, m.Workload} }
func (f FieldsLearned) Key() Key     { return Key{f.Target, f.Workload} }
