package siblings

import (
	"flag"
	"maps"
	"math"
	"slices"
	"testing"
)

// days are played of each world; docs/background/siblings.md has what came of 150.
var days = flag.Int("days", 1, "service-days of each world")

// judged are the worlds that the test is judged by: none of them, and none of their
// seeds, was looked at when its constants were chosen.
func judged() map[string]world {
	old := math.Log(1.15)
	return map[string]world{
		"quiet":                    {replicas: 16, rate: 0.2, spread: 0.3, wander: 0.05, wanders: 300},
		"busy, one older GPU":      {replicas: 16, rate: 0.2, spread: 0.6, wander: 0.15, wanders: 900, old: old},
		"heavy tails":              {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, old: old, tails: 0.03},
		"skewed caches":            {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, hits: 0.5, skew: 0.3, told: true},
		"skewed caches, not told":  {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, hits: 0.7, skew: 0.15},
		"queues of long requests":  {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, queue: 0.5},
		"restarts with cold cache": {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, hits: 0.6, told: true, restarts: 0.25},
	}
}

// TestFalsePages plays healthy services: at most the promised rate of pages, within
// what chance allows, beside those of the first six hours, in which nothing is known
// of how much a service's replicas differ for nothing.
func TestFalsePages(t *testing.T) {
	if testing.Short() {
		t.Skip("plays days of seven services")
	}
	const run = 10
	for at, name := range slices.Sorted(maps.Keys(judged())) {
		t.Run(name, func(t *testing.T) {
			young, later, left := 0, 0, float64(*days)
			for seed := uint64(at) << 32; left > 0; seed++ {
				s := judged()[name].begin(seed + 1<<50)
				young += s.pages(0.25)
				later += s.pages(min(left, run) - 0.25)
				left -= run
			}
			t.Logf("%d service-days: %d pages for nothing, and %d in the first six hours of each %d days", *days, later, young, run)
			promised := float64(*days) / 30 * promised().FalsePages
			if most := promised + 3*math.Sqrt(promised) + 1; float64(later) > most {
				t.Errorf("%d pages for nothing: promised are %.1f", later, promised)
			}
		})
	}
}

// TestNamed: the one of sixteen that is three times as slow is named within a minute
// where each is asked by a conversation every five seconds, within three behind a
// door that is asked by one a second, though it was so from the first turn on and
// nothing is known of the service.
func TestNamed(t *testing.T) {
	seeds := uint64(16)
	if testing.Short() {
		seeds = 2
	}
	for _, how := range []struct {
		name string
		rate float64
		most int64
	}{{"direct", 0.2, 60}, {"through a door", 1. / 16, 180}} {
		var took []int64
		wrong := 0
		for at, name := range slices.Sorted(maps.Keys(judged())) {
			for seed := range seeds {
				w := judged()[name]
				w.rate = how.rate
				s := w.begin(uint64(at)<<32 + seed + 1<<51)
				s.slower[5] = math.Log(3)
				seconds, right := s.named(5, 60)
				if !right {
					wrong++
				}
				took = append(took, seconds)
			}
		}
		slices.Sort(took)
		of := func(q float64) int64 { return took[int(q*float64(len(took)-1))] }
		t.Logf("%s: %d runs: median %d s, 95%% %d s, longest %d s, %d named another first", how.name, len(took), of(0.5), of(0.95), of(1), wrong)
		if of(0.95) > how.most || wrong > len(took)/20 {
			t.Errorf("%s: 95%% took %d s, another one was named first in %d of %d", how.name, of(0.95), wrong, len(took))
		}
	}
}
