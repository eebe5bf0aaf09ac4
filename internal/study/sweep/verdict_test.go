package sweep

import (
	"slices"
	"testing"

	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
)

// blocks are n equal blocks.
func blocks(n int, good, bad float64) []tally {
	return slices.Repeat([]tally{{good, bad}}, n)
}

func TestVerdicts(t *testing.T) {
	j := judge{objectives: []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Objective: 0.99}, {Name: "tpot", SLI: slo.TPOT, Objective: 0.9}}, confidence: 0.95}
	if v := j.measured(judgedTurns{"ttft": blocks(10, 99, 1), "tpot": blocks(10, 89, 11)}); v.Met || len(v.Lost) != 1 || v.Lost[0] != "tpot" {
		t.Errorf("measured %+v, want tpot lost", v)
	}
	if v := j.measured(judgedTurns{"ttft": blocks(10, 99, 1), "tpot": blocks(10, 90, 10)}); !v.Met || v.Confidence > 0.6 {
		t.Errorf("measured at the limit: %+v, want met with little confidence", v)
	}
	if v := j.measured(judgedTurns{"ttft": blocks(10, 99, 1)}); v.Met {
		t.Errorf("an objective that nothing was judged by is met: %+v", v)
	}
	if v := j.lost(judgedTurns{"ttft": blocks(10, 5, 5), "tpot": blocks(10, 10, 0)}, 5); v == nil || v.Met || v.Lost[0] != "ttft" {
		t.Errorf("half of the turns are bad: %+v", v)
	}
	if v := j.lost(judgedTurns{"ttft": blocks(10, 9, 1), "tpot": blocks(10, 10, 0)}, 12); v != nil {
		t.Errorf("10 bad turns of 1,200 that may come: %+v", v)
	}
	if v := j.lost(judgedTurns{"ttft": blocks(2, 0, 100), "tpot": nil}, 1); v != nil {
		t.Errorf("decided by the first two blocks: %+v", v)
	}
	if v := j.met(judgedTurns{"ttft": blocks(10, 50, 0), "tpot": blocks(10, 50, 0)}); v == nil || !v.Met {
		t.Errorf("500 good turns: %+v", v)
	}
	if v := j.met(judgedTurns{"ttft": blocks(10, 50, 0), "tpot": blocks(10, 1, 0)}); v != nil {
		t.Errorf("met with 10 turns of an objective: %+v", v)
	}
}

// TestStanding says what measured levels prove: clear ones something, and
// those at the edge, or with few turns, nothing.
func TestStanding(t *testing.T) {
	one := judge{objectives: []slo.Objective{{Name: "ttft", Objective: 0.99}}, confidence: 0.95}
	for _, c := range []struct {
		name   string
		blocks []tally
		want   runfile.Standing
	}{
		{"clean", blocks(10, 30, 0), runfile.Met},
		{"clean, and too few", blocks(10, 29, 0), runfile.Undecided},
		{"nothing was judged", nil, runfile.Undecided},
		{"at the edge", blocks(10, 99, 1), runfile.Undecided},
		{"beyond it, within noise", blocks(10, 69, 1), runfile.Undecided},
		{"beyond it", blocks(10, 98, 2), runfile.Missed},
		{"as many, in one burst", append(blocks(9, 100, 0), tally{80, 20}), runfile.Undecided},
	} {
		if v := one.measured(judgedTurns{"ttft": c.blocks}); v.Standing != c.want {
			t.Errorf("%s: %s with a confidence of %.3f, want %s", c.name, v.Standing, v.Confidence, c.want)
		}
	}
}

// TestWeigh pools repetitions: two that prove nothing can prove something
// together.
func TestWeigh(t *testing.T) {
	j := judge{objectives: []slo.Objective{{Name: "ttft", Objective: 0.99}}, confidence: 0.95}
	half := judgedTurns{"ttft": blocks(10, 20, 0)}
	if standing, _ := j.prove(half); standing != runfile.Undecided {
		t.Errorf("200 good turns: %s", standing)
	}
	if standing, confidence := j.prove(half, half); standing != runfile.Met || confidence < 0.98 {
		t.Errorf("400 good turns: %s with a confidence of %.3f", standing, confidence)
	}
}

// TestVain gives up only what nothing can prove any more.
func TestVain(t *testing.T) {
	j := judge{objectives: []slo.Objective{{Name: "ttft", Objective: 0.99}}, confidence: 0.95}
	for _, c := range []struct {
		name   string
		blocks []tally
		times  float64
		want   bool
	}{
		{"no bad turn, though too few", blocks(10, 10, 0), 2, false},
		{"one, and 474 in all", []tally{{236, 1}}, 2, false},
		{"one, and 470 in all", []tally{{234, 1}}, 2, true},
		{"13 of 1,000", []tally{{987, 13}}, 1, true},
		{"6 of 1,200, here and there", slices.Repeat([]tally{{50, 0}, {49, 1}}, 6), 2, false},
		{"6 of 1,200, in one burst", append(blocks(11, 50, 0), tally{44, 6}), 2, true},
	} {
		if got := j.futile(judgedTurns{"ttft": c.blocks}, c.times); (got != nil) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
