package fleet

import (
	"testing"

	"synthetic/internal/probe"
)

// TestEndWithoutStart checks that the end of a turn or conversation that started before the job
// was added is not counted.
func TestEndWithoutStart(t *testing.T) {
	tally := NewTally()
	for _, e := range []probe.Event{
		probe.Result{Kind: probe.First, Outcome: probe.Success},
		probe.Conversation{Outcome: probe.Stall},
		probe.Start{Kind: probe.Followup}, // of the other kind
		probe.Result{Kind: probe.First, Outcome: probe.Stall},
	} {
		if _, started := e.(probe.Start); tally.Observe(e) != started {
			t.Errorf("%T: counted %v, want %v", e, !started, started)
		}
	}
	first, followup := &tally.Turns[0], &tally.Turns[1]
	if first.Ended != 0 || first.InFlight != 0 || len(first.Outcomes) != 0 || followup.InFlight != 1 || tally.Conversations != (ConversationTally{}) {
		t.Errorf("got %+v, want one follow-up turn in flight and nothing else", tally)
	}
}

// TestTally checks the counts of each event.
func TestTally(t *testing.T) {
	tally := NewTally()
	for _, o := range []probe.Outcome{probe.Success, probe.Stall, probe.Canceled, probe.NotSent} {
		tally.Observe(probe.Start{Kind: probe.First})
		tally.Observe(probe.ConversationStart{})
		if !tally.Observe(probe.Result{Kind: probe.First, Outcome: o}) || !tally.Observe(probe.Conversation{Outcome: o}) {
			t.Errorf("%s was not counted", o)
		}
	}
	tally.Observe(probe.ConversationStart{})
	tally.Observe(probe.ConversationStart{})
	tally.Observe(probe.Conversation{Outcome: probe.Success, Shortened: true})
	turns := &tally.Turns[0]
	if turns.Ended != 4 || turns.InFlight != 0 || turns.Count(probe.Outcome.Failed) != 1 || turns.Count(probe.Outcome.Canceled) != 1 || turns.Count(probe.Outcome.OwnFault) != 1 {
		t.Errorf("turns: %+v", turns)
	}
	if want := (ConversationTally{Ended: 5, InFlight: 1, Failed: 1, Canceled: 2, Shortened: 1}); tally.Conversations != want {
		t.Errorf("conversations: %+v, want %+v", tally.Conversations, want)
	}
	tally.Observe(probe.Skip{Reason: probe.SkipBudget})
	tally.Observe(probe.Paced{Rate: 2, Why: "failed"})
	if tally.Skipped[probe.SkipBudget] != 1 || tally.Bursts["failed"] != 1 || tally.Burst.Rate != 2 {
		t.Errorf("got %+v", tally)
	}
	tally.Observe(probe.Paced{Rate: 1})
	if tally.Bursts["failed"] != 1 || tally.Burst.Why != "" {
		t.Errorf("after the burst: %+v", tally)
	}
}
