package sweep

import (
	"math"
	"math/rand/v2"
	"testing"

	"synthetic/internal/slo"
)

// TestEvidenceErrs draws levels exactly at the allowed share, looks after every
// turn, and holds the share of decisions, all of which are wrong, to the stated
// error.
func TestEvidenceErrs(t *testing.T) {
	const runs, turns, alpha = 1000, 500, 0.05
	rng := rand.New(rand.NewPCG(1, 2))
	for _, allowed := range []float64{0.005, 0.01, 0.05} {
		e := evidence{allowed}
		lost, met := 0, 0
		for range runs {
			var good, bad float64
			wasLost, wasMet := false, false
			for range turns {
				if rng.Float64() < allowed {
					bad++
				} else {
					good++
				}
				wasLost = wasLost || e.against(good, bad) >= math.Log(1/alpha)
				wasMet = wasMet || e.inFavour(good, bad) >= math.Log(1/alpha)
			}
			if wasLost {
				lost++
			}
			if wasMet {
				met++
			}
		}
		// Three standard deviations of the simulation on top of the error.
		limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/runs)
		if share := float64(lost) / runs; share > limit {
			t.Errorf("allowed %g: lost in %.3f of the runs, want at most %.3f", allowed, share, limit)
		}
		if share := float64(met) / runs; share > limit {
			t.Errorf("allowed %g: met in %.3f of the runs, want at most %.3f", allowed, share, limit)
		}
	}
}

// TestEvidenceDecides spells out after how many turns clear cases are decided.
func TestEvidenceDecides(t *testing.T) {
	e, limit := evidence{0.01}, math.Log(20)
	for _, c := range []struct {
		every int // one bad turn in so many, 0 for none
		lost  bool
		most  int
	}{{1, true, 2}, {5, true, 25}, {20, true, 140}, {0, false, 420}} {
		var good, bad float64
		n := 0
		for decided := false; !decided && n < 1000; n++ {
			if c.every > 0 && n%c.every == c.every-1 {
				bad++
			} else {
				good++
			}
			if c.lost {
				decided = e.against(good, bad) >= limit
			} else {
				decided = e.inFavour(good, bad) >= limit
			}
		}
		if n > c.most {
			t.Errorf("one bad turn in %d: decided after %d turns, want at most %d", c.every, n, c.most)
		}
	}
}

// TestConfidence compares with 1 − 0.99^n and with sums worked out by hand.
func TestConfidence(t *testing.T) {
	e := evidence{0.01}
	for _, c := range []struct{ good, bad, want float64 }{
		{0, 0, 0},
		{299, 0, 1 - math.Pow(0.99, 299)},
		{99, 1, 1 - math.Pow(0.99, 100) - math.Pow(0.99, 99)},
		{0, 100, 0},
	} {
		if got := e.confidence(c.good, c.bad); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g good, %g bad: %.9f, want %.9f", c.good, c.bad, got, c.want)
		}
	}
}

func TestThin(t *testing.T) {
	even, bursts := []tally{}, []tally{}
	for i := range 20 {
		even = append(even, tally{9, 1})
		if i%10 == 0 {
			bursts = append(bursts, tally{0, 10})
		} else {
			bursts = append(bursts, tally{10, 0})
		}
	}
	if got := thin(even); got != 1 {
		t.Errorf("even blocks are thinned by %g", got)
	}
	// Whole blocks fail together: ten turns are worth one.
	if got := thin(bursts); got < 9 || got > 11 {
		t.Errorf("bursts of ten are thinned by %g, want about 10", got)
	}
	if got := thin([]tally{{5, 0}}); got != 1 {
		t.Errorf("one block is thinned by %g", got)
	}
}

func TestVerdicts(t *testing.T) {
	j := judge{objectives: []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Objective: 0.99}, {Name: "tpot", SLI: slo.TPOT, Objective: 0.9}}, confidence: 0.95}
	blocks := func(n int, good, bad float64) []tally {
		var out []tally
		for range n {
			out = append(out, tally{good, bad})
		}
		return out
	}
	if v := j.measured(ballot{"ttft": blocks(10, 99, 1), "tpot": blocks(10, 89, 11)}); v.Met || len(v.Lost) != 1 || v.Lost[0] != "tpot" {
		t.Errorf("measured %+v, want tpot lost", v)
	}
	if v := j.measured(ballot{"ttft": blocks(10, 99, 1), "tpot": blocks(10, 90, 10)}); !v.Met || v.Confidence > 0.6 {
		t.Errorf("measured at the limit: %+v, want met with little confidence", v)
	}
	if v := j.measured(ballot{"ttft": blocks(10, 99, 1)}); v.Met {
		t.Errorf("an objective that nothing was judged by is met: %+v", v)
	}
	if v := j.lost(ballot{"ttft": blocks(10, 5, 5), "tpot": blocks(10, 10, 0)}, 5); v == nil || v.Met || v.Lost[0] != "ttft" {
		t.Errorf("half of the turns are bad: %+v", v)
	}
	if v := j.lost(ballot{"ttft": blocks(10, 9, 1), "tpot": blocks(10, 10, 0)}, 12); v != nil {
		t.Errorf("10 bad turns of 1,200 that may come: %+v", v)
	}
	if v := j.lost(ballot{"ttft": blocks(2, 0, 100), "tpot": nil}, 1); v != nil {
		t.Errorf("decided by the first two blocks: %+v", v)
	}
	if v := j.met(ballot{"ttft": blocks(10, 50, 0), "tpot": blocks(10, 50, 0)}); v == nil || !v.Met {
		t.Errorf("500 good turns: %+v", v)
	}
	if v := j.met(ballot{"ttft": blocks(10, 50, 0), "tpot": blocks(10, 1, 0)}); v != nil {
		t.Errorf("met with 10 turns of an objective: %+v", v)
	}
}
