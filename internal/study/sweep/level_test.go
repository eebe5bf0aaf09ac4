package sweep

import (
	"slices"
	"testing"
	"time"
)

// TestVariantIsWarmedUp holds the lowest level's load before the first level, once,
// and says in it nothing that the levels say.
func TestVariantIsWarmedUp(t *testing.T) {
	for _, c := range []struct {
		policy CachePolicy
		before time.Duration // of the first level's own warm-up
	}{{Keep, 10 * time.Second}, {Bust, 0}} {
		plan := small()
		plan.Cache.Policy, plan.Workload.Starters = c.policy, 0
		run, l := sweepOf(t, plan)
		// What the deployment was asked first, a moment after it was ready.
		began := slices.MinFunc(l.at, time.Time.Compare)
		if got := run.Results[0].Snapshots[0].Started.Sub(began).Round(time.Second); got != c.before+plan.WarmUp.Duration {
			t.Errorf("%s: measured %s after the first conversation, want %s", c.policy, got, c.before+plan.WarmUp.Duration)
		}
		slices.Sort(l.openings)
		if n := len(slices.Compact(slices.Clone(l.openings))); n != len(l.openings) {
			t.Errorf("%s: %d conversations, %d different ones", c.policy, len(l.openings), n)
		}
	}
}
