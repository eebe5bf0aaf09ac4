package runs

import (
	"math"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// blocks returns n equal blocks.
func blocks(n int, good, bad uint64) []Judged {
	return slices.Repeat([]Judged{{Good: good, Bad: bad}}, n)
}

// TestStanding: clear levels are proven; levels near the limit, or with few turns, are not.
func TestStanding(t *testing.T) {
	one := Judge{Objectives: []slo.Objective{{Name: "ttft", Objective: 0.99}}, Confidence: 0.95}
	for _, c := range []struct {
		name   string
		blocks []Judged
		want   Standing
	}{
		{"clean", blocks(10, 30, 0), Met},
		{"clean, and too few", blocks(10, 29, 0), Undecided},
		{"nothing was judged", nil, NotJudged},
		{"at the edge", blocks(10, 99, 1), Undecided},
		{"beyond it, within noise", blocks(10, 69, 1), Undecided},
		{"beyond it", blocks(10, 98, 2), Missed},
		{"as many, in one burst", append(blocks(9, 100, 0), Judged{Good: 80, Bad: 20}), Undecided},
	} {
		if v := one.JudgeTurns(Turns{"ttft": c.blocks}); v.Standing != c.want {
			t.Errorf("%s: %s with a confidence of %.3f, want %s", c.name, v.Standing, v.Confidence, c.want)
		}
	}
}

// TestWeigh: two repetitions together can prove what neither proves alone.
func TestWeigh(t *testing.T) {
	j := Judge{Objectives: []slo.Objective{{Name: "ttft", Objective: 0.99}}, Confidence: 0.95}
	half := Turns{"ttft": blocks(10, 20, 0)}
	if v := j.JudgeTurns(half); v.Standing != Undecided || v.SLOs[0].Why != "200 turns measured, about 330 needed in all" {
		t.Errorf("200 good turns: %+v", v)
	}
	if v := j.JudgeTurns(half, half); v.Standing != Met || v.Confidence < 0.98 {
		t.Errorf("400 good turns: %+v", v)
	}
}

// TestMeasured: the measured share decides, at the limit too; chance decides the confidence.
func TestMeasured(t *testing.T) {
	j := Judge{Objectives: []slo.Objective{{Name: "ttft", Objective: 0.9}}, Confidence: 0.95}
	if v := j.JudgeTurns(Turns{"ttft": blocks(10, 89, 11)}); v.Met || v.Measured(nil) != "FAIL (ttft) ~" {
		t.Errorf("11 %% bad turns of 10 %%: %+v", v)
	}
	if v := j.JudgeTurns(Turns{"ttft": blocks(10, 90, 10)}); !v.Met || v.Measured(nil) != "PASS ~" || v.Confidence > 0.6 {
		t.Errorf("a share at the limit: %+v", v)
	}
}

// TestLateTurns: turns for which the prober was late matter if they could turn the verdict.
func TestLateTurns(t *testing.T) {
	j := Judge{Objectives: []slo.Objective{{Name: "ttft", Objective: 0.9}}, Confidence: 0.95}
	for late, want := range map[uint64]string{0: "PASS", 2: "PASS", 100: "PASS ~"} {
		v := j.JudgeTurns(Turns{"ttft": {{Good: 500, Bad: 10, Late: late}}})
		if got := v.Measured(nil); got != want || (want == "PASS ~") != strings.HasPrefix(v.SLOs[0].Why, "the prober was late in 100 of 610 turns") {
			t.Errorf("%d late turns: %s, %+v; want %s", late, got, v.SLOs, want)
		}
	}
	if v := j.JudgeTurns(Turns{"ttft": {{Good: 100, Bad: 300, Late: 30}}}); v.Standing != Missed {
		t.Errorf("three of four turns are bad, and a few late: %+v", v)
	}
}

// TestDriftingLevel: a level that becomes worse from block to block, with 79 % bad turns, fails however many turns
// it has.
func TestDriftingLevel(t *testing.T) {
	for _, perBlock := range []uint64{10, 100, 1000} {
		var drift []Judged
		for i := range 30 {
			bad := perBlock / 10 * uint64(min(2+(i+1)/2, 10))
			drift = append(drift, Judged{Good: perBlock - bad, Bad: bad})
		}
		sum := Count(drift)
		for _, objective := range []float64{0.5, 0.9, 0.99} {
			v := Judge{Objectives: []slo.Objective{{Name: "ttft", Objective: objective}}, Confidence: 0.95}.JudgeTurns(Turns{"ttft": drift})
			if effect := (Evidence{1 - objective}).DesignEffect(drift); v.Standing != Missed || effect > sum.turns() || math.Round(100*float64(sum.Bad)/sum.turns()) != 79 {
				t.Errorf("%d bad of %g turns, objective %g: %+v with a design effect of %g, want a failure", sum.Bad, sum.turns(), objective, v, effect)
			}
		}
	}
}

// TestObjectiveWithoutTurns: answers of one token have no TPOT. Such an objective is not judged,
// and the others decide. An objective for a kind of turn waits for such turns.
func TestObjectiveWithoutTurns(t *testing.T) {
	ttft, tpot := slo.Objective{Name: "ttft", Objective: 0.99}, slo.Objective{Name: "tpot", Objective: 0.99}
	first := slo.Objective{Name: "first", Objective: 0.99, Turns: []probe.TurnKind{probe.First}}
	for _, tt := range []struct {
		name           string
		objectives     []slo.Objective
		blocks         []Judged // of ttft
		want, toSettle string
	}{
		{"met", []slo.Objective{ttft, tpot}, blocks(10, 40, 0), "PASS (tpot: no turn has one)", ""},
		{"missed", []slo.Objective{ttft, tpot}, blocks(10, 20, 20), "FAIL (ttft)", ""},
		{"too few turns", []slo.Objective{ttft, tpot}, blocks(10, 10, 0), "PASS (tpot: no turn has one) ~", "ttft: 100 turns measured, about 320 needed in all"},
		{"bad turns in one burst", []slo.Objective{ttft, tpot}, append(blocks(9, 20, 0), Judged{Good: 17, Bad: 3}), "FAIL (ttft) ~", "ttft: too close to the limit to decide"},
		{"no turn at all", []slo.Objective{ttft, tpot}, nil, "NOT JUDGED (no turn)", ""},
		{"no first turn", []slo.Objective{ttft, first}, blocks(10, 40, 0), "PASS ~", "first: no such turn was measured"},
	} {
		v := Judge{Objectives: tt.objectives, Confidence: 0.95}.JudgeTurns(Turns{"ttft": tt.blocks})
		toSettle := v.ToSettle(func(name string) string { return name })
		if got := v.Measured(nil); got != tt.want || toSettle != tt.toSettle {
			t.Errorf("%s: %s, settled by %q; want %s, %q", tt.name, got, toSettle, tt.want, tt.toSettle)
		}
	}
}
