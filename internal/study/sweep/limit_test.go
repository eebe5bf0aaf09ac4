package sweep

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runfile"
)

// TestThrottled: a deployment misses its SLO at both levels, and the CPU limit of the prober's
// cgroup stops it for a tenth of the second one. That level is undecided, not missed, in the
// sweep and in the report, with a remedy.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var site network
		slow := quick()
		slow.FirstToken = simulate.Delay{Median: 2 * time.Second}
		defer site.serve(t, "a", simulate.New(slow))()
		begin, limited := time.Now(), 120*time.Second
		plan := small()
		plan.EarlyStop, plan.Measure.Snapshot = false, 30*time.Second // a level takes 100 s and its drain
		run, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: site.Dial, Throttled: func() (time.Duration, bool) {
			return max(time.Since(begin)-limited, 0) / 10, true
		}})
		if err != nil {
			t.Fatal(err)
		}
		first, second := run.Results[0], run.Results[1]
		if first.Throttled == nil || *first.Throttled > 0.01 || first.Verdict.Standing != runfile.Missed {
			t.Errorf("unthrottled: %v, %+v", first.Throttled, first.Verdict)
		}
		if !strings.Contains(second.Limit(), "kept the prober from running for 10% of the time; give it more CPU") || !second.Verdict.Unjudged() || second.State != runfile.Complete {
			t.Errorf("throttled: %q, %s, %+v", second.Limit(), second.State, second.Verdict)
		}
		files, err := report.Files(figures.FromRuns([]*runfile.Run{run}), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"NOT JUDGED (the prober was the limit)", "for 10% of the time; give it more CPU"} {
			if !strings.Contains(string(files[0].Data), want) {
				t.Errorf("the report does not say %q", want)
			}
		}
	})
}

// TestThrottledIsNotDoomed: a level does not end early while the prober is the limit.
func TestThrottledIsNotDoomed(t *testing.T) {
	for _, share := range []time.Duration{0, 10} {
		synctest.Test(t, func(t *testing.T) {
			var site network
			slow := quick()
			slow.FirstToken = simulate.Delay{Median: 2 * time.Second}
			defer site.serve(t, "a", simulate.New(slow))()
			begin := time.Now()
			plan := small()
			plan.EarlyStop, plan.Levels = true, []float64{4}
			run, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: site.Dial, Throttled: func() (time.Duration, bool) {
				return time.Since(begin) * share / 100, true
			}})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := run.Results[0].State, map[bool]runfile.State{true: runfile.EndedEarly, false: runfile.Complete}[share == 0]; got != want {
				t.Errorf("throttled for %d%%: %s (%s), want %s", share, got, run.Results[0].Why, want)
			}
		})
	}
}
