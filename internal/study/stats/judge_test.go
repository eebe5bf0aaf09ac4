package stats

import (
	"slices"
	"testing"

	"synthetic/internal/study/runfile"
)

// blocks returns n equal blocks.
func blocks(n int, good, bad float64) []Tally {
	return slices.Repeat([]Tally{{good, bad}}, n)
}

// TestStanding: clear levels are proven; levels near the limit, or with few turns, are not.
func TestStanding(t *testing.T) {
	one := Judge{Objectives: []runfile.Objective{{Name: "ttft", Objective: 0.99}}, Confidence: 0.95}
	for _, c := range []struct {
		name   string
		blocks []Tally
		want   runfile.Standing
	}{
		{"clean", blocks(10, 30, 0), runfile.Met},
		{"clean, and too few", blocks(10, 29, 0), runfile.Undecided},
		{"nothing was judged", nil, runfile.Undecided},
		{"at the edge", blocks(10, 99, 1), runfile.Undecided},
		{"beyond it, within noise", blocks(10, 69, 1), runfile.Undecided},
		{"beyond it", blocks(10, 98, 2), runfile.Missed},
		{"as many, in one burst", append(blocks(9, 100, 0), Tally{80, 20}), runfile.Undecided},
	} {
		if v := one.JudgeTurns(Turns{"ttft": c.blocks}); v.Standing != c.want {
			t.Errorf("%s: %s with a confidence of %.3f, want %s", c.name, v.Standing, v.Confidence, c.want)
		}
	}
}

// TestWeigh: two repetitions together can prove what neither proves alone.
func TestWeigh(t *testing.T) {
	j := Judge{Objectives: []runfile.Objective{{Name: "ttft", Objective: 0.99}}, Confidence: 0.95}
	half := Turns{"ttft": blocks(10, 20, 0)}
	if standing, _ := j.prove(half); standing != runfile.Undecided {
		t.Errorf("200 good turns: %s", standing)
	}
	if standing, confidence := j.prove(half, half); standing != runfile.Met || confidence < 0.98 {
		t.Errorf("400 good turns: %s with a confidence of %.3f", standing, confidence)
	}
}

// TestSliver: a bad turn in the first moment of a block is no burst.
func TestSliver(t *testing.T) {
	got := withoutSliver(append(blocks(20, 75, 0), Tally{2, 1}))
	if want := append(blocks(19, 75, 0), Tally{77, 1}); !slices.Equal(got, want) {
		t.Errorf("joined to %v, want %v", got, want)
	}
	if got := withoutSliver(append(blocks(20, 75, 0), Tally{40, 1})); len(got) != 21 {
		t.Errorf("more than half a block was joined: %v", got)
	}
}
