package workload

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe/workload/trace"
)

// TestSteps checks the plan of a recorded session and the texts of its prompts.
func TestSteps(t *testing.T) {
	s := retold(t, "weka.jsonl", trace.Options{}, 1)
	s.spec.System = "Be brief."
	c := s.Next()
	if c.Turns != 6 || len(c.Steps) != 6 || c.Opening != nil || c.Think != nil || c.At != 0 {
		t.Fatalf("the conversation is %+v", c)
	}
	prompts := make([]string, 6)
	for i, tokens := range []float64{200, 100, 64, 180, 300, 150} {
		all := c.Prompt(i)
		prompts[i] = all[1].Content
		if len(all) != 2 || all[0].Content != "Be brief." || len(prompts[i]) != int(tokens*defaultCharsPerToken) {
			t.Errorf("prompt %d: %d messages, %d characters", i, len(all), len(prompts[i]))
		}
	}
	const block = 64 * defaultCharsPerToken
	if n := float64(shared(prompts[0], prompts[4])); n < 3*block || n > 3*block+20 {
		t.Errorf("prompts that share 3 blocks share %g characters, want %g", n, 3*block)
	}
	if next := s.Next().Prompt(0)[1].Content; shared(next, prompts[0]) > 20 {
		t.Error("block 1 of another session is the same")
	}
	if got, want := s.Estimate(c), 200+100+64+180+300+150+78; got != want {
		t.Errorf("estimated %d tokens, want %d", got, want)
	}
	if got := s.EstimatePrompt(c, 3); got != (994+78)/6 {
		t.Errorf("estimated %d tokens a step", got)
	}
	first := c.FirstTurn()
	if first.Turns != 1 || first.Steps != nil || user(first) != prompts[0] || first.CharsOpening != len(prompts[0])+9 {
		t.Errorf("the first turn is %+v", first)
	}
	c.Hasten(2)
	if got := c.Steps[1].Needs[0].Delay; got != 500*time.Millisecond {
		t.Errorf("a tool takes %s at speed 2", got)
	}
	if got := s.Next().Steps[1].Needs[0].Delay; got != time.Second {
		t.Errorf("a tool takes %s when the session comes again", got)
	}
}

// TestManySessions checks that a session of 100 turns with 100,000 tokens of context takes at most 100 kB
// while it waits.
func TestManySessions(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"id":"s","block_size":64,"requests":[`)
	ids := ""
	for k := range 100 {
		for i := range 16 {
			ids += fmt.Sprintf(",%d", 16*k+i)
		}
		fmt.Fprintf(&b, `%s{"t":%d,"type":"n","in":%d,"out":50,"hash_ids":[%s],"api_time":3}`, strings.Repeat(",", min(k, 1)), 5*k, 16*64*(k+1), ids[1:])
	}
	b.WriteString("]}")
	s := newSource(t, Spec{Trace: Trace{File: file(t, b.String())}})
	defer s.Close()
	s.Next()
	const n = 20
	before := heap()
	all := plans(s, n)
	each := (heap() - before) / n
	if each > 100_000 || len(all[n-1].Steps) != 100 {
		t.Errorf("%d bytes each", each)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
