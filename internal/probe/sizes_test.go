package probe_test

import (
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/slo"
)

// TestJudgedBySize judges turns with short and long prompts over TCP. The long one takes at least 0.4 s by the
// server's prefill. The last one fails, so that only an estimate says its size.
func TestJudgedBySize(t *testing.T) {
	d, o := simulated(t, "chat", simulate.Options{Prefill: 10 * time.Microsecond})
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
	const (
		ms  = time.Millisecond
		any = slo.Judgement(99) // depends on the machine
	)
	for name, tc := range map[string]struct {
		o    slo.Objective
		want [4]slo.Judgement
	}{
		"threshold": {slo.Objective{Threshold: 300 * ms}, [4]slo.Judgement{any, any, slo.Bad, slo.Bad}},
		"line":      {slo.Objective{Threshold: 300 * ms, PerThousand: 500 * ms}, [4]slo.Judgement{any, any, slo.Good, slo.Bad}},
		"flat line": {slo.Objective{Threshold: 300 * ms, PerThousand: ms / 10}, [4]slo.Judgement{any, any, slo.Bad, slo.Bad}},
		"cached":    {slo.Objective{Threshold: time.Hour, Uncached: slo.Tokens{Below: 1000}}, [4]slo.Judgement{slo.NotJudged, slo.Good}},
		"short":     {slo.Objective{Threshold: time.Hour, Uncached: slo.Tokens{From: 1000, Below: 10_000}}, [4]slo.Judgement{slo.Good}},
		"long":      {slo.Objective{Threshold: time.Hour, Uncached: slo.Tokens{From: 10_000}}, [4]slo.Judgement{2: slo.Good, 3: slo.Bad}},
	} {
		tc.o.SLI = slo.TTFT
		for i, r := range turns {
			if got := tc.o.Judge(&r); tc.want[i] != any && got != tc.want[i] {
				t.Errorf("%s, turn %d: judgement %d, want %d; %v, %+v of %+v tokens cached", name, i+1, got, tc.want[i], r.TTFT, r.CachedTokens, r.PromptTokens)
			}
		}
	}
}
