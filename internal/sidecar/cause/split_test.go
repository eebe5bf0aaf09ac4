package cause

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestPartOfTheLine: ten minutes after the fault, the part of the usual TTFT that is longer is named, and never the other
// one. Without a fault, or without sizes that differ, no part is named.
func TestPartOfTheLine(t *testing.T) {
	const base, perToken = 0.3, 60e-6
	differ := func(rng *rand.Rand) float64 { return min(max(12_000*math.Exp(1.2*rng.NormFloat64()), 2000), 150_000) }
	for _, tt := range []struct {
		name               string
		tokens             func(*rand.Rand) float64
		moreBase, perToken float64 // during the fault
		want               Part
	}{
		{"nothing", differ, 0, perToken, QueuePrefill},
		{"three times the seconds per token", differ, 0, 3 * perToken, Prefill},
		{"2 s more for each turn", differ, 2, perToken, Queue},
		{"prompts of one size", func(*rand.Rand) float64 { return 12_000 }, 0, 3 * perToken, QueuePrefill},
	} {
		times := 0
		for seed := range uint64(3) {
			var c Comparison
			rng := rand.New(rand.NewPCG(seed, 3))
			now := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
			turns := func(n int, more, slope float64) {
				for range n {
					tokens := tt.tokens(rng)
					prefill := perToken * tokens
					v := probe.Some(time.Duration((base + more + slope*tokens) * math.Exp(0.3*rng.NormFloat64()) * 1e9))
					r := probe.Result{Outcome: probe.Success, TTFT: v}
					c.Observe(&r, Values{v}, now, more == 0 && slope == perToken, probe.Some(Usual{base + prefill, prefill / (base + prefill)}))
					now = now.Add(20 * time.Second)
				}
			}
			turns(1500, 0, perToken)
			turns(30, tt.moreBase, tt.perToken)
			excess, named := c.Excess().V, QueuePrefill
			for i, p := range Parts()[:4] {
				if i >= 2 && !math.IsNaN(excess[i]) {
					named = p
				}
			}
			switch named {
			case tt.want:
				times++
			case QueuePrefill:
			default:
				t.Errorf("%s, seed %d: %s is named, the excess is %v", tt.name, seed, named, excess)
			}
		}
		if times < 3 {
			t.Errorf("%s: %s is named with %d of 3 seeds", tt.name, tt.want, times)
		}
	}
}
