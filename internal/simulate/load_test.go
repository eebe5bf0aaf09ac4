package simulate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate/cluster"
)

// loaded returns a driver with a load. The test advances its cluster.
func loaded(t *testing.T, c *cluster.Config, l Load) *driver {
	t.Helper()
	o := Options{Seed: 7, Cluster: c, Load: l}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return o.withDefaults().start(*c, time.Now())
}

func TestLoadRises(t *testing.T) {
	d := loaded(t, preset(t, "phase0"), Load{Concurrency: 20})
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{950 * time.Millisecond, 10}, {10 * time.Second, 20}, {10 * time.Minute, 20}} {
		d.cluster.Advance(step.at, d.handle)
		s := d.cluster.Worker(0)
		// Requests between frontend and worker neither run nor wait.
		if got := s.Running + s.Waiting; got > step.want || got < step.want-3 {
			t.Errorf("after %v: %d at the worker, want about %d", step.at, got, step.want)
		}
		if len(d.calls) != 20 {
			t.Errorf("after %v: %d calls, want one per conversation", step.at, len(d.calls))
		}
	}
}

// tokens returns the tokens that all workers have generated.
func tokens(d *driver) (n uint64) {
	for id := range d.config.Workers {
		n += d.cluster.Worker(id).OutputTokens
	}
	return n
}

// TestLoadSurvivesFaults checks that faults do not change the number of conversations.
func TestLoadSurvivesFaults(t *testing.T) {
	for name, c := range map[string]*cluster.Config{
		"lost worker": preset(t, "trtllm-kv", func(c *cluster.Config) {
			c.Faults = []cluster.Fault{{Kind: cluster.WorkerLoss, At: time.Minute, For: time.Minute}}
		}),
		"hang beyond the deadline": preset(t, "phase0", func(c *cluster.Config) {
			c.Faults = []cluster.Fault{{Kind: cluster.Hang, At: time.Minute, For: 5 * time.Minute}}
		}),
		"too long for the KV memory": preset(t, "phase0", func(c *cluster.Config) { c.Engine.KVTokens = 6_000 }),
	} {
		t.Run(name, func(t *testing.T) {
			d := loaded(t, c, Load{Concurrency: 20})
			d.cluster.Advance(10*time.Minute, d.handle)
			before := tokens(d)
			d.cluster.Advance(20*time.Minute, d.handle)
			if len(d.calls) > 20 || d.cluster.InFlight() != len(d.calls) {
				t.Errorf("%d calls for 20 conversations, %d in flight", len(d.calls), d.cluster.InFlight())
			}
			if got := tokens(d) - before; got < 10_000 {
				t.Errorf("%d tokens in ten minutes after the fault", got)
			}
		})
	}
}

func TestConversationsOfTheLoad(t *testing.T) {
	d := loaded(t, preset(t, "phase0"), Load{Concurrency: 5})
	turns := 0.0
	d.cluster.Advance(5*time.Hour, func(e cluster.Event) {
		if e.Kind == cluster.Done {
			turns++
		}
		d.handle(e)
	})
	s := d.cluster.Worker(0)
	// The first prompt has 3,600 tokens, and each turn adds a question of about 63 and an answer of
	// about 839. 3, 4 or 5 turns have 3, 6 or 10 such additions in their prompts.
	if mean, want := float64(s.PromptTokens)/turns, 3600+902*19/12.0; mean < .98*want || mean > 1.02*want {
		t.Errorf("prompts of %v tokens on average, want %v", mean, want)
	}
	if mean := float64(s.OutputTokens) / turns; mean < .98*839 || mean > 1.02*839 {
		t.Errorf("answers of %v tokens on average, want 839", mean)
	}
	// After the first conversations, only questions are not cached.
	if hits := float64(s.CachedTokens) / float64(s.PromptTokens); hits < .93 {
		t.Errorf("%v of the prompts cached", hits)
	}
	// An answer of 839 tokens at 23 ms takes 19 to 25 s.
	if rate := turns / (5 * 60 * 60); rate < .2 || rate > .26 {
		t.Errorf("%v turns/s of 5 conversations", rate)
	}
}

// TestCatchingUp checks that Run changes no result.
func TestCatchingUp(t *testing.T) {
	o := Options{Seed: 1, Cluster: preset(t, "phase0"), Load: Load{Concurrency: 30}, Answer: Length{Median: 20}}
	play := func(withRun bool) (duration time.Duration, tokens float64) {
		bench(t, o, func(t *testing.T, d *Deployment, c client) {
			if withRun {
				done := make(chan struct{})
				ctx, stop := context.WithCancel(t.Context())
				go func() { defer close(done); d.Run(ctx) }()
				defer func() { stop(); <-done }()
			}
			time.Sleep(time.Minute + time.Millisecond)
			synctest.Wait()
			duration, tokens = sendAtOnce(t, c, 1)[0], c.scrape(t).sum(t, "vllm:generation_tokens_total")
		})
		return duration, tokens
	}
	with, tokensWith := play(true)
	without, tokensWithout := play(false)
	if with != without || tokensWith != tokensWithout {
		t.Errorf("with Run %v and %v tokens, without %v and %v", with, tokensWith, without, tokensWithout)
	}
}
