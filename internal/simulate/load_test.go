package simulate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate/cluster"
)

// loaded returns a driver under a load, to be moved by hand.
func loaded(t *testing.T, c *cluster.Config, l Load) *driver {
	t.Helper()
	o := Options{Seed: 7, Cluster: c, Load: l}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return o.withDefaults().start(*c, time.Now(), 0)
}

func TestLoadRises(t *testing.T) {
	d := loaded(t, preset(t, "phase0"), Load{Concurrency: 20})
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{950 * time.Millisecond, 10}, {10 * time.Second, 20}, {10 * time.Minute, 20}} {
		d.cluster.Advance(step.at, d.handle)
		s := d.cluster.Stats()
		// Requests on their way are in flight, but neither running nor waiting.
		if got := s.Running + s.Waiting; got > step.want || got < step.want-3 {
			t.Errorf("after %v: %d at the workers, want about %d", step.at, got, step.want)
		}
		if len(d.calls) != 20 {
			t.Errorf("after %v: %d calls, want one per conversation", step.at, len(d.calls))
		}
	}
}

// TestLoadGoesOn pins that each conversation ends or goes on, whatever happens
// to its requests, and that its turns add up.
func TestLoadGoesOn(t *testing.T) {
	for name, c := range map[string]*cluster.Config{
		"lost worker": preset(t, "trtllm-kv", func(c *cluster.Config) {
			c.Faults = []cluster.Fault{{Kind: cluster.WorkerLoss, At: time.Minute, For: time.Minute}}
		}),
		"hang over the deadline": preset(t, "phase0", func(c *cluster.Config) {
			c.Faults = []cluster.Fault{{Kind: cluster.Hang, At: time.Minute, For: 5 * time.Minute}}
		}),
		"refused":  preset(t, "phase0", func(c *cluster.Config) { c.Engine.MaxSeqs, c.Frontend.MaxWaiting = 8, 2 }),
		"outgrown": preset(t, "phase0", func(c *cluster.Config) { c.Engine.KVTokens = 16_000 }),
	} {
		t.Run(name, func(t *testing.T) {
			d := loaded(t, c, Load{Concurrency: 20, Answer: Length{Median: 3000}})
			d.cluster.Advance(10*time.Minute, d.handle)
			before := d.tally.front.tokens
			d.cluster.Advance(20*time.Minute, d.handle)
			if n := len(d.calls) - 20; n > 0 || d.cluster.Stats().InFlight != len(d.calls) {
				t.Errorf("%d calls for 20 conversations, %d in flight", len(d.calls), d.cluster.Stats().InFlight)
			}
			if got := d.tally.front.tokens - before; got < 10_000 {
				t.Errorf("%d tokens in ten minutes after the fault", got)
			}
			if f := d.tally.front; f.inFlight != len(d.calls) || f.queued < 0 || f.queued > f.inFlight {
				t.Errorf("%d in flight, %d queued; %d calls", f.inFlight, f.queued, len(d.calls))
			}
		})
	}
}

func TestLoadHasItsShape(t *testing.T) {
	d := loaded(t, preset(t, "phase0"), Load{
		Concurrency: 5, MinTurns: 2, MaxTurns: 2, Starters: 1, StarterTokens: 1000,
		Question: Length{Median: 50}, Answer: Length{Median: 100}, Think: Delay{Median: 10 * time.Second},
	})
	d.cluster.Advance(30*time.Minute, d.handle)
	s := d.cluster.Worker(0)
	turns := float64(s.Finished)
	// Prompts of 1,000 and of 1,150 tokens in turn.
	if mean := float64(s.PromptTokens) / turns; mean < 1060 || mean > 1090 {
		t.Errorf("prompts of %v tokens on average, want 1075", mean)
	}
	if mean := float64(s.OutputTokens) / turns; mean < 99 || mean > 102 {
		t.Errorf("answers of %v tokens on average, want 100", mean)
	}
	// All but the first starter is cached, and of the second turns all but the
	// question.
	if hits := float64(s.CachedTokens) / float64(s.PromptTokens); hits < .93 {
		t.Errorf("%v of the prompts cached", hits)
	}
	// A turn takes some 2.5 s, and every other one is followed by 10 s.
	if rate := turns / (30 * 60); rate < .55 || rate > .75 {
		t.Errorf("%v turns/s of 5 conversations", rate)
	}
}

// TestCatchingUp pins that nobody can tell whether somebody drove the cluster.
func TestCatchingUp(t *testing.T) {
	o := Options{Seed: 1, Cluster: preset(t, "phase0"), Load: Load{Concurrency: 30}, Answer: Length{Median: 20}}
	play := func(keep bool) (took time.Duration, tokens float64) {
		bench(t, o, func(t *testing.T, d *Deployment, c client) {
			if keep {
				done := make(chan struct{})
				ctx, stop := context.WithCancel(t.Context())
				go func() { defer close(done); d.Run(ctx) }()
				defer func() { stop(); <-done }()
			}
			time.Sleep(time.Minute + time.Millisecond)
			synctest.Wait()
			took, tokens = crowd(t, c, 1)[0], c.scrape(t).sum(t, "vllm:generation_tokens_total")
		})
		return took, tokens
	}
	kept, keptTokens := play(true)
	late, lateTokens := play(false)
	if kept != late || keptTokens != lateTokens {
		t.Errorf("with Run %v and %v tokens, without %v and %v", kept, keptTokens, late, lateTokens)
	}
}
