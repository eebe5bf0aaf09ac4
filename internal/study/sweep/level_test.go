package sweep

import (
	"slices"
	"testing"
	"time"

	"synthetic/internal/fleet"
)

// TestVariantIsWarmedUp: the lowest level's load runs once before the first level, with texts of its own.
func TestVariantIsWarmedUp(t *testing.T) {
	for _, c := range []struct {
		policy fleet.CachePolicy
		before time.Duration // the first level's own warm-up
	}{{fleet.KeepCache, 10 * time.Second}, {fleet.BustCache, 0}} {
		plan := small()
		plan.Levels, plan.Measure = plan.Levels[:1], fleet.Measure{Snapshots: 1, Snapshot: 20 * time.Second}
		plan.Cache.Policy, plan.Workload.Starters = c.policy, 0
		run, l := sweepOf(t, plan)
		// The first requests of the deployment, just after it was ready.
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
