package fleet

import "synthetic/internal/probe"

// Tally counts the events of one job since it was added. The metrics and the status page both
// count with it, so that their numbers agree. Use NewTally.
type Tally struct {
	// Turns are counted by index of probe.TurnKinds.
	Turns         [kinds]TurnTally
	Conversations ConversationTally
	// Skipped counts conversations that were due but not started, Bursts the bursts that began,
	// both by reason.
	Skipped, Bursts map[string]int
	// Burst is the last change of the rate; its Why is "" without a burst.
	Burst probe.Paced
}

// TurnTally counts turns of one kind.
type TurnTally struct {
	Ended, InFlight int
	Outcomes        map[probe.Outcome]int
}

// ConversationTally counts conversations. Canceled ones were ended by the prober.
type ConversationTally struct {
	Ended, InFlight             int
	Failed, Canceled, Shortened int
}

// NewTally returns a Tally without events.
func NewTally() Tally {
	t := Tally{Skipped: map[string]int{}, Bursts: map[string]int{}}
	for k := range t.Turns {
		t.Turns[k].Outcomes = map[probe.Outcome]int{}
	}
	return t
}

// Observe counts an event. It does not count the end of a turn or conversation that started
// before the job was added, for a removed job of the same name, and returns false: the number in
// flight would become negative.
func (t *Tally) Observe(e probe.Event) bool {
	switch e := e.(type) {
	case probe.Start:
		t.Turns[e.Kind.Index()].InFlight++
	case probe.Result:
		return t.Turns[e.Kind.Index()].end(e.Outcome)
	case probe.ConversationStart:
		t.Conversations.InFlight++
	case probe.Conversation:
		return t.Conversations.end(e)
	case probe.Skip:
		t.Skipped[e.Reason]++
	case probe.Paced:
		t.Burst = e
		if e.Why != "" {
			t.Bursts[e.Why]++
		}
	}
	return true
}

func (t *TurnTally) end(o probe.Outcome) bool {
	if t.InFlight == 0 {
		return false
	}
	t.Ended++
	t.InFlight--
	t.Outcomes[o]++
	return true
}

// Count returns the number of ended turns whose outcome satisfies match.
func (t *TurnTally) Count(match func(probe.Outcome) bool) (n int) {
	for o, turns := range t.Outcomes {
		if match(o) {
			n += turns
		}
	}
	return n
}

func (t *ConversationTally) end(c probe.Conversation) bool {
	if t.InFlight == 0 {
		return false
	}
	t.Ended++
	t.InFlight--
	switch {
	case c.Shortened:
		t.Shortened++
	case c.Outcome.Own():
		t.Canceled++
	case c.Outcome.Failed():
		t.Failed++
	}
	return true
}
