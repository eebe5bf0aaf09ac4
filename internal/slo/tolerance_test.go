package slo_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// TestNotJudgedWhileTheProberIsLate checks the lag from which a latency no longer counts, good or
// bad. A failure always counts.
func TestNotJudgedWhileTheProberIsLate(t *testing.T) {
	const ms = time.Millisecond
	good := probe.Result{
		Outcome: probe.Success, Timing: probe.Timing{Kernel: true, AnswerTTFT: probe.Some(ms), Gaps: []time.Duration{ms}},
		TTFT: probe.Some(ms), TPOT: probe.Some(ms),
	}
	slow := func(by time.Duration) probe.Result {
		return probe.Result{
			Outcome: probe.Success, End: time.Time{}.Add(by),
			TTFT: probe.Some(by), TPOT: probe.Some(by),
			Timing: probe.Timing{Kernel: true, AnswerTTFT: probe.Some(by), Gaps: []time.Duration{by}},
		}
	}
	failed := probe.Result{Outcome: probe.HTTP5xx, Timing: probe.Timing{Kernel: true}}
	for _, tc := range []struct {
		o           slo.Objective
		lag, stream time.Duration // the highest tolerated lags; 0 means any
	}{
		{slo.Objective{SLI: slo.TTFT, Threshold: 2 * time.Second}, 200 * ms, 0},
		{slo.Objective{SLI: slo.TTFT, Threshold: 50 * ms}, 20 * ms, 0},
		{slo.Objective{SLI: slo.AnswerTTFT, Threshold: 2 * time.Second}, 200 * ms, 200 * ms},
		{slo.Objective{SLI: slo.TurnDuration, Threshold: time.Minute}, time.Second, time.Second},
		{slo.Objective{SLI: slo.TPOT, Threshold: 60 * ms}, time.Second, 600 * ms}, // 100 tokens
		{slo.Objective{SLI: slo.ITL, Threshold: 500 * ms}, time.Second, 50 * ms},
	} {
		if got := tc.o.Tolerance(); got != tc.lag {
			t.Errorf("%s of %v: tolerance %v, want %v", tc.o.SLI, tc.o.Threshold, got, tc.lag)
		}
		r := failed
		r.Lag, r.StreamLag = time.Hour, time.Hour
		if v := tc.o.Judge(&r); v != slo.Bad || tc.o.SkippedAsLate(&r) {
			t.Errorf("%s, a failed turn of a late prober: verdict %d, left out %v", tc.o.SLI, v, tc.o.SkippedAsLate(&r))
		}
		added := tc.o.SLI == slo.TTFT || tc.o.SLI == slo.AnswerTTFT || tc.o.SLI == slo.TurnDuration // lag only adds
		if added {
			for want, r := range map[slo.Judgement]probe.Result{slo.Good: good, slo.Bad: slow(2 * time.Hour)} {
				r.Lag, r.StreamLag = time.Hour, time.Hour
				if v := tc.o.Judge(&r); v != want || tc.o.SkippedAsLate(&r) {
					t.Errorf("%s, far from the threshold: %d, want %d", tc.o.SLI, v, want)
				}
			}
		}
		for _, r := range []probe.Result{good, slow(tc.o.Threshold + 1)} {
			if added && r.TTFT == good.TTFT {
				continue
			}
			r.OutputTokens, r.TPOTTokens = probe.Some(2000), 100 // the others are hidden
			check := func(lag, stream time.Duration, judged bool) {
				t.Helper()
				r := r
				r.Lag, r.StreamLag = lag, stream
				if v := tc.o.Judge(&r); (v != slo.NotJudged) != judged || tc.o.SkippedAsLate(&r) == judged {
					t.Errorf("%s, a turn with %s, %v late and %v in its stream: verdict %d, left out %v", tc.o.SLI, r.Outcome, lag, stream, v, tc.o.SkippedAsLate(&r))
				}
			}
			check(tc.lag, tc.stream, true)
			check(tc.lag+1, 0, false)
			check(0, time.Hour, tc.stream == 0)
			if tc.stream > 0 {
				check(0, tc.stream+100, false) // over 100 tokens
			}
		}
		for _, o := range probe.OwnFaults() {
			if v := tc.o.Judge(&probe.Result{Outcome: o, TTFT: probe.Some(time.Hour)}); v != slo.NotJudged {
				t.Errorf("%s judges %s", tc.o.SLI, o)
			}
		}
	}
}

// TestAvailabilityNeedsNoTime checks that availability counts turns however late the prober was.
func TestAvailabilityNeedsNoTime(t *testing.T) {
	o := slo.Objective{SLI: slo.Availability}
	for outcome, want := range map[probe.Outcome]slo.Judgement{probe.Success: slo.Good, probe.Stall: slo.Bad, probe.ProberLate: slo.NotJudged} {
		r := probe.Result{Outcome: outcome, Timing: probe.Timing{Lag: time.Hour, StreamLag: time.Hour}}
		if got := o.Judge(&r); got != want || o.SkippedAsLate(&r) {
			t.Errorf("%s of a late prober: %d, want %d; left out %v", outcome, got, want, o.SkippedAsLate(&r))
		}
	}
}
