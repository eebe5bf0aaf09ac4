package probe_test

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
)

// TestSizeOfAFailedTurn: only an estimate says the size of a turn that fails, as that of an earlier one with the same
// text.
func TestSizeOfAFailedTurn(t *testing.T) {
	d, o := simulated(t, "chat", simulate.Options{})
	p, err := probe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	talk := func(word string, words, turns int) []probe.Result {
		sink := &recorder{}
		opening := []workload.Message{{Role: "user", Content: strings.Repeat(word+" ", words)}}
		c := workload.Conversation{Turns: turns, Opening: opening, Followups: []string{"Why?"}}
		p.Converse(t.Context(), probe.Plan{Conversation: c, Scheduled: time.Now(), Model: "m"}, sink)
		return sink.results
	}
	turns := append(talk("small", 2000, 2), talk("large", 40_000, 1)...)
	d.Update(func(o *simulate.Options) { o.Incidents = []simulate.Incident{{Kind: simulate.ErrorStatus, Share: 1}} })
	turns = append(turns, talk("other", 40_000, 1)...)
	if len(turns) != 4 || turns[3].Outcome != probe.HTTP5xx {
		t.Fatalf("%d turns: %+v", len(turns), turns)
	}
	long := turns[2].PromptTokens.V
	if got := turns[3].UncachedEstimate; !got.OK || got.V < long*9/10 || got.V > long*11/10 {
		t.Errorf("the failed turn has an estimate of %+v tokens, the same text had %d", got, long)
	}
}
