package sweep

import (
	"slices"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/study/runs"
)

// TestMaxPause checks that reports name the longest pause of a trace.
func TestMaxPause(t *testing.T) {
	p := fleet.Plan{Workload: workload.Spec{Recorded: workload.Recorded{Trace: workload.Trace{File: "x.jsonl", Options: trace.Options{MaxPause: time.Minute}}}}}
	if got := workloadOf(p).Parameters; !slices.Contains(got, runs.Parameter{Name: "max_pause", Value: "1m0s"}) {
		t.Errorf("parameters %v, want max_pause 1m0s", got)
	}
}
