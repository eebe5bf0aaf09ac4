package runs

import (
	"testing"
	"time"

	"synthetic/internal/probe"
)

// TestLeftOut: turns that the prober spoiled count there and nowhere else.
func TestLeftOut(t *testing.T) {
	late := turn(probe.First, time.Minute, time.Second)
	late.Lag = time.Hour
	var b, clean, tail Block
	for range 290 {
		b.Observe(new(turn(probe.First, 200*time.Millisecond, 40*time.Millisecond)), objectives())
		clean.Observe(new(turn(probe.First, 200*time.Millisecond, 40*time.Millisecond)), objectives())
	}
	r := Result{Snapshots: []Snapshot{{Blocks: []Block{b}}}}
	if turns, of := r.LeftOut(); turns != 0 || of != 290 {
		t.Errorf("of a prober that was never late %d of %d turns are left out", turns, of)
	}
	b.Observe(&probe.Result{Kind: probe.First, Outcome: probe.NotSent}, objectives())
	b.Observe(&probe.Result{Kind: probe.First, Outcome: probe.ProberLate, TTFT: probe.Some(time.Hour)}, objectives())
	r.Snapshots[0].Blocks[0] = b
	if turns, of := r.LeftOut(); turns != 2 || of != 292 {
		t.Errorf("%d of %d turns are left out, want 2 of 292", turns, of)
	}
	if b.First.TTFT.Values.Count() != clean.First.TTFT.Values.Count() || b.First.TPOT.Failures != 0 || b.SLOs["ttft"] != clean.SLOs["ttft"] {
		t.Errorf("own faults are counted as the deployment's: %+v", b)
	}
	b.Observe(&late, objectives())
	r.Snapshots[0].Blocks[0] = b
	tail.Observe(&probe.Result{Outcome: probe.NotSent}, objectives())
	r.Tail = &tail
	if turns, of := r.LeftOut(); turns != 4 || of != 294 {
		t.Errorf("%d of %d turns are left out, want 4 of 294", turns, of)
	}
	want := clean.SLOs["ttft"]
	want.Late = 3
	if judged := r.judged("ttft"); judged[0] != want {
		t.Errorf("judged %+v, want the turn for which the prober was too late, and the two that it could not send, as late: %+v", judged, want)
	}
}
