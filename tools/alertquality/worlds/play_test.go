package worlds

import (
	"testing"
	"time"

	"synthetic/internal/probe"
)

// collector keeps results, and checks that the clock is set before each event.
type collector struct {
	t     *testing.T
	now   time.Time
	turns []probe.Result
}

func (c *collector) Observe(e probe.Event) {
	if r, ok := e.(probe.Result); ok {
		if !r.End.Equal(c.now) {
			c.t.Errorf("a turn that ends at %s is observed at %s", r.End, c.now)
		}
		c.turns = append(c.turns, r)
	}
}

// TestPlay: each world plays at any rate, and long prompts have a larger TTFT.
func TestPlay(t *testing.T) {
	m := modelOf(t, "sizes")
	m.ConversationsPerMinute = 3
	got := collector{t: t}
	Play(SimulationOptions{Model: m, Seed: 1, Length: day}, &got, func(at time.Time) { got.now = at })
	if n := len(got.turns); n < 16_000 || n > 18_500 {
		t.Errorf("%d turns in a day, want about 4 × 3 × 1440", n)
	}
	sum, n := [2]time.Duration{}, [2]time.Duration{}
	for _, r := range got.turns {
		if long := r.PromptTokens.V - r.CachedTokens.V; r.TTFT.OK && r.Kind == probe.First {
			i := map[int]int{300: 0, 1500: 1}[long]
			sum[i], n[i] = sum[i]+r.TTFT.V, n[i]+1
		}
	}
	if ratio := float64(sum[1]/n[1]) / float64(sum[0]/n[0]); ratio < 3 || ratio > 3.8 {
		t.Errorf("long prompts take %.2f times as long, want 3.4", ratio)
	}
}
