package runs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/slo"
)

// TestRecall: answers are counted by the place of their code, also in the file.
func TestRecall(t *testing.T) {
	answer := func(result recall.Result, depth int) probe.Result {
		r := probe.Result{
			Kind: probe.Followup, Outcome: probe.Success,
			Texts: probe.Texts{Recall: probe.Recall{Result: result}},
		}
		if result != recall.Foreign {
			r.Recall.Depth, r.Recall.Cached = probe.Some(depth), probe.Some(depth < 8000)
		}
		return r
	}
	var b Block
	for _, r := range []probe.Result{
		answer(recall.Right, 10), answer(recall.Wrong, 9000), {Kind: probe.First, Outcome: probe.Success}, answer(recall.Right, 20), answer(recall.Foreign, 0),
	} {
		b.Observe(&r, nil)
	}
	want := map[RecallClass]Recalled{{"0-1k", "yes"}: {Right: 2}, {"8k-32k", "no"}: {Wrong: 1}, {"unknown", "unknown"}: {Foreign: 1}}
	data, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var read Block
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]Block{"counted": b, "read": read} {
		if diff := cmp.Diff(want, got.Recall); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := read.Recalled(func(c RecallClass) bool { return c.Cached != "unknown" }); got != (Recalled{Right: 2, Wrong: 1}) || read.Recalled(nil).Judged() != 4 {
		t.Errorf("with a known place: %+v, all: %+v", got, read.Recalled(nil))
	}
	if err := json.Unmarshal([]byte(`{"recall": {"deep": {"right": 1}}}`), &read); err == nil || !strings.Contains(err.Error(), "is not a class of answers") {
		t.Errorf("another class: %v", err)
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
