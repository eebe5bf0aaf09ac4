package slo_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// TestNoTurnOfABurstIsJudged: bursts happen during faults. If their turns counted, a fault
// would spend the budget several times over.
func TestNoTurnOfABurstIsJudged(t *testing.T) {
	for _, sli := range []slo.SLI{slo.TTFT, slo.TPOT, slo.Availability} {
		o := slo.Objective{SLI: sli, Threshold: time.Second, Objective: 0.99}
		r := probe.Result{Outcome: probe.HTTP5xx}
		if o.Judge(&r) != slo.Bad {
			t.Errorf("%s: a failed turn is not bad", sli)
		}
		if r.Burst = true; o.Judge(&r) != slo.NotJudged || o.SkippedAsLate(&r) {
			t.Errorf("%s: a turn of a burst is judged, or counts as left out", sli)
		}
	}
}
