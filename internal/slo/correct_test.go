package slo_test

import (
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/slo"
)

// TestCorrect: only turns that asked for a code, or whose answer has one of another conversation, are judged. A late
// prober changes nothing.
func TestCorrect(t *testing.T) {
	o := slo.Objective{SLI: slo.Correct, Objective: 0.99}
	for result, want := range map[recall.Result]slo.Judgement{
		"": slo.NotJudged, recall.Right: slo.Good, recall.Wrong: slo.Bad, recall.Foreign: slo.Bad,
	} {
		r := probe.Result{
			Outcome: probe.Success,
			Timing:  probe.Timing{Lag: 1 << 40},
			Texts:   probe.Texts{Recall: probe.Recall{Result: result}},
		}
		if got := o.Judge(&r); got != want || o.SkippedAsLate(&r) {
			t.Errorf("%q: judgement %d, want %d", result, got, want)
		}
	}
	if o.Judge(&probe.Result{Outcome: probe.HTTP5xx}) != slo.NotJudged {
		t.Error("a failed turn is judged")
	}
}
