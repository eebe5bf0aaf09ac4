package cause

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPartOfTheLine: ten minutes after the fault, the part of the line that has moved is named, and never the other
// one. Without a fault, or without sizes that differ, no part is named.
func TestPartOfTheLine(t *testing.T) {
	alike := func(*rand.Rand) int { return 12_000 }
	for _, tt := range []struct {
		name   string
		tokens func(*rand.Rand) int
		fault  func(*feed)
		want   Part
	}{
		{"nothing", logNormal(12_000, 1.2), func(*feed) {}, QueuePrefill},
		{"three times the seconds per token", logNormal(12_000, 1.2), func(f *feed) { f.extra = linear(180e-6) }, Prefill},
		{"2 s more for each turn", logNormal(12_000, 1.2), func(f *feed) { f.usual += 2 * time.Second }, Queue},
		{"prompts of one size", alike, func(f *feed) { f.extra = linear(180e-6) }, QueuePrefill},
	} {
		times := 0
		for seed := range uint64(3) {
			f := newFeed(options{})
			f.rng = rand.New(rand.NewPCG(seed, 3))
			f.usual, f.tokens, f.extra = 300*time.Millisecond, tt.tokens, linear(60e-6)
			f.every = time.Minute
			f.run(day)
			tt.fault(f)
			f.every = 20 * time.Second
			f.run(10 * time.Minute)
			excess := f.parts[0].excess().V
			named := QueuePrefill
			for i, p := range []Part{Connect, QueuePrefill, Queue, Prefill} {
				if i > 0 && !math.IsNaN(excess[i]) {
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
