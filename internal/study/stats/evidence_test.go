package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEvidenceErrs simulates levels exactly at the allowed share, so that all decisions are
// wrong, evaluates the test after every turn, and bounds the share of decisions.
func TestEvidenceErrs(t *testing.T) {
	const runs, turns, alpha = 1000, 500, 0.05
	rng := rand.New(rand.NewPCG(1, 2))
	for _, allowed := range []float64{0.005, 0.01, 0.05} {
		e := Evidence{allowed}
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
				wasLost = wasLost || e.Against(good, bad) >= math.Log(1/alpha)
				wasMet = wasMet || e.InFavour(good, bad) >= math.Log(1/alpha)
			}
			if wasLost {
				lost++
			}
			if wasMet {
				met++
			}
		}
		// Three standard deviations of the simulation above alpha.
		limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/runs)
		if share := float64(lost) / runs; share > limit {
			t.Errorf("allowed %g: lost in %.3f of the runs, want at most %.3f", allowed, share, limit)
		}
		if share := float64(met) / runs; share > limit {
			t.Errorf("allowed %g: met in %.3f of the runs, want at most %.3f", allowed, share, limit)
		}
	}
}

// TestEvidenceDecides: clear cases are decided within some number of turns.
func TestEvidenceDecides(t *testing.T) {
	e, limit := Evidence{0.01}, math.Log(20)
	for _, c := range []struct {
		every int // turns for each bad one, 0 for no bad turn
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
				decided = e.Against(good, bad) >= limit
			} else {
				decided = e.InFavour(good, bad) >= limit
			}
		}
		if n > c.most {
			t.Errorf("one bad turn in %d: decided after %d turns, want at most %d", c.every, n, c.most)
		}
	}
}

// TestConfidence compares with 1 − 0.99^n and with manual sums.
func TestConfidence(t *testing.T) {
	e := Evidence{0.01}
	for _, c := range []struct{ good, bad, want float64 }{
		{0, 0, 0},
		{299, 0, 1 - math.Pow(0.99, 299)},
		{99, 1, 1 - math.Pow(0.99, 100) - math.Pow(0.99, 99)},
		{0, 100, 0},
	} {
		if got := e.Confidence(c.good, c.bad); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g good, %g bad: %.9f, want %.9f", c.good, c.bad, got, c.want)
		}
	}
}

// TestDoubt compares with manual sums. Both directions cannot be proven at once.
func TestDoubt(t *testing.T) {
	e := Evidence{0.01}
	for _, c := range []struct{ good, bad, want float64 }{
		{0, 0, 0},
		{300, 0, 0},
		{99, 1, math.Pow(0.99, 100)},
		{98, 2, math.Pow(0.99, 100) + math.Pow(0.99, 99)},
		{98, 1.9, math.Pow(0.99, 99.9)}, // a fraction does not count
		{0, 100, 1},
	} {
		if got := e.confidenceMissed(c.good, c.bad); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g good, %g bad: %.9f, want %.9f", c.good, c.bad, got, c.want)
		}
		if sum := e.confidenceMissed(c.good, c.bad) + e.Confidence(c.good, c.bad); sum > 1+1e-9 {
			t.Errorf("%g good, %g bad: the two confidences are %g together", c.good, c.bad, sum)
		}
	}
}

func TestVarianceRatio(t *testing.T) {
	even, bursts := []Tally{}, []Tally{}
	for i := range 20 {
		even = append(even, Tally{9, 1})
		if i%10 == 0 {
			bursts = append(bursts, Tally{0, 10})
		} else {
			bursts = append(bursts, Tally{10, 0})
		}
	}
	effect := func(tallies []Tally) float64 {
		var pairs []Pair
		for _, t := range tallies {
			pairs = append(pairs, Pair{Part: t.Bad, Whole: t.Good + t.Bad})
		}
		total := Total([][]Pair{pairs})
		got, _ := varianceRatio([][]Pair{pairs}, total.Part/total.Whole)
		return got
	}
	if got := effect(even); got != 1 {
		t.Errorf("even blocks have a design effect of %g, want 1", got)
	}
	// Whole blocks fail together: ten turns prove as much as one.
	if got := effect(bursts); got < 9 || got > 11 {
		t.Errorf("bursts of ten have a design effect of %g, want about 10", got)
	}
	if got := effect([]Tally{{5, 0}}); got != 1 {
		t.Errorf("one block has a design effect of %g, want 1", got)
	}
}
