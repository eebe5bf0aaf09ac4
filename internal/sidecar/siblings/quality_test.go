package siblings

import (
	"flag"
	"maps"
	"math"
	"slices"
	"testing"
)

// days is the number of simulated service-days per world. docs/background/siblings.md has the
// results of 150.
var days = flag.Int("days", 1, "service-days of each world")

// judged returns the worlds of the test. Their parameters and seeds were not used to choose the
// constants of the package.
func judged() map[string]world {
	old := math.Log(1.15)
	return map[string]world{
		"quiet":                       {replicas: 16, rate: 0.2, spread: 0.3, wander: 0.05, wanders: 300},
		"busy, one older GPU":         {replicas: 16, rate: 0.2, spread: 0.6, wander: 0.15, wanders: 900, old: old},
		"heavy tails":                 {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, old: old, tails: 0.03},
		"skewed caches":               {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, hits: 0.5, skew: 0.3, reported: true},
		"skewed caches, not reported": {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, hits: 0.7, skew: 0.15},
		"queues of long requests":     {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, queue: 0.5},
		"restarts with cold cache":    {replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300, hits: 0.6, reported: true, restarts: 0.25},
	}
}

// TestFalsePages simulates healthy services. The rate of false pages must not exceed the accepted
// one by more than chance allows. The first six hours do not count, because the usual differences
// of the replicas are still unknown.
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
			t.Logf("%d service-days: %d false pages, and %d in the first six hours of each %d days", *days, later, young, run)
			accepted := float64(*days) / 30 * falsePages
			if limit := accepted + 3*math.Sqrt(accepted) + 1; float64(later) > limit {
				t.Errorf("%d false pages, want at most %.1f", later, accepted)
			}
		})
	}
}

// TestSlowReplicaIsNamed checks how soon one of sixteen replicas pages that is three times as slow
// from the first turn on: within a minute if a conversation every five seconds probes each replica,
// within three behind a front door with one conversation a second.
func TestSlowReplicaIsNamed(t *testing.T) {
	seeds := uint64(16)
	if testing.Short() {
		seeds = 2
	}
	for _, access := range []struct {
		name       string
		rate       float64
		maxSeconds int64
	}{{"direct", 0.2, 60}, {"through a door", 1. / 16, 180}} {
		var took []int64
		wrong := 0
		for at, name := range slices.Sorted(maps.Keys(judged())) {
			for seed := range seeds {
				w := judged()[name]
				w.rate = access.rate
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
		quantile := func(q float64) int64 { return took[int(q*float64(len(took)-1))] }
		t.Logf("%s: %d runs: median %d s, 95%% %d s, longest %d s; another replica paged first in %d", access.name, len(took), quantile(0.5), quantile(0.95), quantile(1), wrong)
		if quantile(0.95) > access.maxSeconds || wrong > len(took)/20 {
			t.Errorf("%s: 95%% took %d s, another replica paged first in %d of %d", access.name, quantile(0.95), wrong, len(took))
		}
	}
}
