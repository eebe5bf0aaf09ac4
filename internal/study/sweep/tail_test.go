package sweep

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runs"
)

// This test measures 50 good turns and lets others end after the measurement. A failed one is
// bad only for the objectives that it misses. A successful one does not count, however slow it
// was. The report's matrix agrees with the sweep's verdict on each objective.
func TestReportJudgesTheTailAsTheSweep(t *testing.T) {
	objectives := []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
		{Name: "up", SLI: slo.Availability, Objective: 0.99},
	}
	late := func(o probe.Outcome, ttft time.Duration) func(time.Time) probe.Result {
		return func(start time.Time) probe.Result {
			r := ended(start, 5*time.Second, 20*time.Second, o)
			r.TTFT = probe.Opt[time.Duration]{V: ttft, OK: ttft > 0}
			return r
		}
	}
	slow, hung := late(probe.Success, 10*time.Second), late(probe.TimeoutFirstToken, 0)
	cut, slowAndCut := late(probe.Truncated, 100*time.Millisecond), late(probe.Truncated, 10*time.Second)
	for name, tt := range map[string]struct {
		tail []func(time.Time) probe.Result
		lost []string
	}{
		"none":                          {nil, nil},
		"a slow one":                    {[]func(time.Time) probe.Result{slow, slow}, nil},
		"a hang":                        {[]func(time.Time) probe.Result{hung}, []string{"ttft", "up"}},
		"cut after a quick first token": {[]func(time.Time) probe.Result{cut}, []string{"up"}},
		"that and a slow one":           {[]func(time.Time) probe.Result{cut, slow}, []string{"up"}},
		"slow and cut":                  {[]func(time.Time) probe.Result{slowAndCut}, []string{"ttft", "up"}},
		"canceled":                      {[]func(time.Time) probe.Result{late(probe.Canceled, 10*time.Second)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCollector(objectives, time.Second)
				start := time.Now()
				c.beginTimed(start, 1, 10*time.Second)
				c.conversationStarted(start)
				for i := range 50 {
					c.Observe(probe.Start{})
					c.Observe(ended(start, 0, time.Duration(i)*100*time.Millisecond, probe.Success))
				}
				time.Sleep(10 * time.Second)
				c.finish(time.Now())
				for _, turn := range tt.tail {
					c.Observe(probe.Start{})
					c.Observe(turn(start))
				}
				j := runs.Judge{Objectives: objectives, Confidence: 0.95}
				result := runs.Result{Variant: "v", Level: 1, Repetition: 1, State: runs.Complete}
				result.Snapshots, result.Tail = c.snapshots()
				result.Verdict = j.JudgeTurns(j.TurnsOf(result))
				if !slices.Equal(result.Verdict.Lost, tt.lost) {
					t.Errorf("the sweep says that %q are lost, want %q", result.Verdict.Lost, tt.lost)
				}
				if got := lostIn(objectives, result); !slices.Equal(got, tt.lost) {
					t.Errorf("the report says that %q are lost, want %q", got, tt.lost)
				}
			})
		})
	}
}

// lostIn returns the objectives that a report on the result calls missed.
func lostIn(objectives []slo.Objective, result runs.Result) []string {
	s := report.FromRuns([]*runs.Run{{
		Method: runs.Method{LevelKind: runs.Concurrency}, Variants: []string{"v"}, SLOs: objectives, Results: []runs.Result{result},
	}})
	return report.Judge(s.Objectives, s.Series[0].Levels[0]).Lost
}
