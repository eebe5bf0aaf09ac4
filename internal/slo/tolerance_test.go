package slo_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// TestNotJudgedWhileTheProberIsLate leaves a turn out, good or bad, from the
// lateness on that an objective cannot bear.
func TestNotJudgedWhileTheProberIsLate(t *testing.T) {
	const ms = time.Millisecond
	good := probe.Result{
		Outcome: probe.Success, Kernel: true,
		TTFT: probe.Some(ms), AnswerTTFT: probe.Some(ms), TPOT: probe.Some(ms), Gaps: []time.Duration{ms},
	}
	slow := probe.Result{
		Outcome: probe.Success, Kernel: true, End: time.Time{}.Add(time.Hour),
		TTFT: probe.Some(time.Hour), AnswerTTFT: probe.Some(time.Hour), TPOT: probe.Some(time.Hour), Gaps: []time.Duration{time.Hour},
	}
	failed := probe.Result{Outcome: probe.HTTP5xx, Kernel: true}
	for _, tc := range []struct {
		o               slo.Objective
		stamped, unseen time.Duration
	}{
		{slo.Objective{SLI: slo.TTFT, Threshold: 2 * time.Second}, 200 * ms, 200 * ms},
		{slo.Objective{SLI: slo.TTFT, Threshold: 50 * ms}, 20 * ms, 20 * ms},
		{slo.Objective{SLI: slo.AnswerTTFT, Threshold: 2 * time.Second}, 200 * ms, 200 * ms},
		{slo.Objective{SLI: slo.TurnDuration, Threshold: time.Minute}, time.Second, time.Second},
		{slo.Objective{SLI: slo.TPOT, Threshold: 60 * ms}, time.Second, 20 * ms},
		{slo.Objective{SLI: slo.ITL, Threshold: 500 * ms}, time.Second, 50 * ms},
		{slo.Objective{SLI: slo.Availability}, time.Second, time.Second},
	} {
		for _, kernel := range []bool{true, false} {
			limit := tc.stamped
			if !kernel {
				limit = tc.unseen
			}
			if got := tc.o.Tolerance(kernel); got != limit {
				t.Errorf("%s of %v, stamped %v: tolerance %v, want %v", tc.o.SLI, tc.o.Threshold, kernel, got, limit)
			}
			for _, r := range []probe.Result{good, slow, failed} {
				r.Kernel = kernel
				r.Lag = limit
				if v := tc.o.Judge(r); v == slo.NotJudged || tc.o.LeavesOut(r) {
					t.Errorf("%s, a turn with %s and a lag of %v is not judged", tc.o.SLI, r.Outcome, r.Lag)
				}
				r.Lag++
				if v := tc.o.Judge(r); v != slo.NotJudged || !tc.o.LeavesOut(r) {
					t.Errorf("%s, a turn with %s and a lag of %v is judged", tc.o.SLI, r.Outcome, r.Lag)
				}
			}
		}
		for _, o := range probe.OwnFaults() {
			if v := tc.o.Judge(probe.Result{Outcome: o, TTFT: probe.Some(time.Hour)}); v != slo.NotJudged {
				t.Errorf("%s judges %s", tc.o.SLI, o)
			}
		}
	}
}
