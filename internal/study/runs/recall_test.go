package runs

import (
	"encoding/json"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/slo"
)

// TestRecall: answers are counted by their result, also in the file.
func TestRecall(t *testing.T) {
	var b Block
	for _, result := range []recall.Result{recall.Right, recall.Wrong, "", recall.Right, recall.Foreign} {
		b.Observe(&probe.Result{Kind: probe.Followup, Outcome: probe.Success, Texts: probe.Texts{Recall: probe.Recall{Result: result}}}, nil)
	}
	data, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var read Block
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]Recalled{"counted": b.Recall, "read": read.Recall} {
		if want := (Recalled{Right: 2, Wrong: 1, Foreign: 1}); got != want || got.Judged() != 4 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestGoodputWithRecall: a turn that asked for no code is good by an objective on right answers only if there is no
// other objective. Otherwise that objective would raise the goodput by turns that the others do not judge.
func TestGoodputWithRecall(t *testing.T) {
	correct := slo.Objective{Name: "correct", SLI: slo.Correct}
	ttft := slo.Objective{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Turns: []probe.TurnKind{probe.First}}
	first, followup, late := turn(probe.First, 10*time.Millisecond, time.Millisecond), turn(probe.Followup, 10*time.Millisecond, time.Millisecond), turn(probe.First, time.Minute, time.Second)
	late.Lag = time.Hour
	failed := first
	failed.Outcome = probe.Stall
	for name, tt := range map[string]struct {
		turn       probe.Result
		objectives []slo.Objective
		want       uint64
	}{
		"the only objective":         {first, []slo.Objective{correct}, 1},
		"failed":                     {failed, []slo.Objective{correct}, 0},
		"no objective":               {first, nil, 0},
		"good by the other one":      {first, []slo.Objective{correct, ttft}, 1},
		"not judged by the other":    {followup, []slo.Objective{correct, ttft}, 0},
		"the prober was late for it": {late, []slo.Objective{ttft, correct}, 0},
	} {
		var b Block
		if b.Observe(&tt.turn, tt.objectives); b.Good != tt.want {
			t.Errorf("%s: %d good turns, want %d", name, b.Good, tt.want)
		}
	}
}
