package workload

import (
	"math"
	"testing"
	"time"

	"synthetic/internal/probe/workload/trace"
)

func retold(t *testing.T, sample string, o trace.Options, salt uint64) *Source {
	t.Helper()
	s := newSource(t, Spec{Trace: Trace{File: "trace/testdata/" + sample, Options: o}, Seed: 1}, salt)
	t.Cleanup(s.Close)
	return s
}

// shared returns the length of the common prefix.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// TestRetoldBlocks checks that prompts have the recorded length and share exactly the recorded
// blocks, and that another salt gives other texts.
func TestRetoldBlocks(t *testing.T) {
	s := retold(t, "mooncake.jsonl", trace.Options{}, 1)
	all := plans(s, 4)
	const block = 512 * trace.CharsPerToken
	for i, tokens := range []int{1100, 1300, 600, 1100} {
		if n := len(user(all[i])); n != int(float64(tokens)*trace.CharsPerToken) {
			t.Errorf("prompt %d has %d characters, want those of %d tokens", i, n, tokens)
		}
	}
	if n := shared(user(all[0]), user(all[1])); n < 2*block || n > 2*block+16 {
		t.Errorf("prompts that share 2 blocks share %d characters, want %g", n, 2*block)
	}
	if n := shared(user(all[0]), user(all[2])); n > 16 {
		t.Errorf("prompts that share nothing share %d characters", n)
	}
	if user(all[3]) != user(all[0]) {
		t.Error("the next lap says something else")
	}
	if other := retold(t, "mooncake.jsonl", trace.Options{}, 2).Next(); shared(user(all[0]), user(other)) > 16 {
		t.Error("another salt says the same")
	}
	if all[1].Outputs[0] != 12 || s.EstimateOutput(all[1], 1) != 12 || all[1].Turns != 1 {
		t.Errorf("the second conversation is %+v", all[1].Outputs)
	}
}

// TestBlocksHoldWhatWasLearned checks that the text of a block does not change when the ratio
// of characters per token does.
func TestBlocksHoldWhatWasLearned(t *testing.T) {
	s := retold(t, "mooncake.jsonl", trace.Options{}, 1)
	first := s.Next()
	s.Learn(4000, 2000)
	if second := s.Next(); shared(user(first), user(second)) < 1024*4 {
		t.Error("what was shared is another text now")
	}
}

// TestRetoldWithoutBlocks checks that prompts with only a length share nothing.
func TestRetoldWithoutBlocks(t *testing.T) {
	s := retold(t, "burstgpt.csv", trace.Options{}, 1)
	all := plans(s, 3)
	for i, tokens := range []float64{470, 1080} { // the third is a failed request
		if n := float64(len(user(all[i]))); math.Abs(n/(tokens*trace.CharsPerToken)-1) > 0.03 {
			t.Errorf("prompt %d has %g characters, want about those of %g tokens", i, n, tokens)
		}
		if user(all[i])[:20] == user(all[2])[:20] {
			t.Errorf("prompts %d and 2 begin alike", i)
		}
	}
}

// TestTraceThatGoesAway checks that a deleted trace repeats its last conversation and is stale.
func TestTraceThatGoesAway(t *testing.T) {
	path := file(t, `{"timestamp": 0, "messages": [{"role": "user", "content": "one"}]}`+"\n"+`{"timestamp": 5, "messages": [{"role": "user", "content": "two"}]}`)
	s := newSource(t, Spec{Trace: Trace{File: path}})
	defer s.Close()
	plans(s, 2)
	s.trace.File += ".gone"
	if c := s.Next(); user(c) != "two" || c.Turns != 1 {
		t.Errorf("the third conversation is %+v", c)
	}
	s.spec.Trace.File += ".gone"
	if !s.Stale() {
		t.Error("not stale, though the trace is gone")
	}
}

// TestDists compares the mean and spread of each shape with its definition.
func TestDists(t *testing.T) {
	for _, c := range []struct {
		Dist
		mean, sd float64
	}{
		{Dist{Mean: 7}, 7, 0},
		{Dist{Mean: 800, SD: 600}, 800, 600},
		{Dist{Mean: 5, SD: 1, Min: 50, Max: 60}, 50, 0},
		{Dist{Mean: 500, Max: 60}, 60, 0},
	} {
		rng := newRand(3)
		const n = 40_000
		sum, squares := 0.0, 0.0
		for range n {
			x := c.draw(rng)
			sum, squares = sum+x, squares+x*x
		}
		mean := sum / n
		sd := math.Sqrt(max(squares/n-mean*mean, 0))
		if math.Abs(mean/c.mean-1) > 0.02 || math.Abs(sd-c.sd) > 0.08*c.sd+1e-3 {
			t.Errorf("%s: mean %g, SD %g, want %g and %g", &c.Dist, mean, sd, c.mean, c.sd)
		}
		if math.Abs(c.EstimateMean()/c.mean-1) > 0.06 {
			t.Errorf("%s: expected %g, want %g", &c.Dist, c.EstimateMean(), c.mean)
		}
	}
}

// TestDrawnConversations checks that distributions replace fixed values, and that each shared
// opening has one length.
func TestDrawnConversations(t *testing.T) {
	s := newSource(t, Spec{
		TurnsMin: 4, TurnsMax: 4, PromptTokens: 10, FollowupTokens: 5, Starters: 3, Seed: 1,
		Content: Content{Dists: Dists{
			Prompt: &Dist{Mean: 400, SD: 400, Min: 50}, Output: &Dist{Mean: 33},
		}},
	})
	texts := map[string]bool{}
	for _, c := range plans(s, 60) {
		if c.Turns != 4 || len(c.Outputs) != 4 || c.Outputs[3] != 33 {
			t.Fatalf("%d turns, outputs %v", c.Turns, c.Outputs)
		}
		texts[user(c)] = true
	}
	if len(texts) != 3 {
		t.Errorf("%d openings, want the 3 starters", len(texts))
	}
}

// TestUsersWhoLeave checks the share of cancelled turns, and that nothing else changes.
func TestUsersWhoLeave(t *testing.T) {
	spec := Spec{TurnsMin: 2, TurnsMax: 4, PromptTokens: 30, FollowupTokens: 5, Users: Users{ThinkMax: time.Second}, Seed: 3}
	calm := newSource(t, spec)
	spec.Cancel = Cancel{Share: 0.2, Min: time.Second, Max: 3 * time.Second}
	s := newSource(t, spec)
	turns, left := 0, 0
	for range 2000 {
		c, same := s.Next(), calm.Next()
		for _, p := range c.Patience {
			turns++
			if p != 0 {
				left++
			}
			if p != 0 && (p < time.Second || p > 3*time.Second) {
				t.Fatalf("a user leaves after %s", p)
			}
		}
		if len(c.Patience) != c.Turns || user(c) != user(same) || c.Turns != same.Turns || same.Patience != nil {
			t.Fatalf("%+v, want %+v and somebody who may leave", c, same)
		}
	}
	if share := float64(left) / float64(turns); math.Abs(share-0.2) > 0.02 {
		t.Errorf("%g of the turns are left, want 0.2", share)
	}
}
