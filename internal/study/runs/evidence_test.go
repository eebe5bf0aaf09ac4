package runs

import (
	"math"
	"testing"
)

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

func TestDesignEffect(t *testing.T) {
	bursts := []Judged{}
	for i := range 20 {
		if i%10 == 0 {
			bursts = append(bursts, Judged{Good: 0, Bad: 10})
		} else {
			bursts = append(bursts, Judged{Good: 10, Bad: 0})
		}
	}
	even := blocks(20, 9, 1)
	effect := func(turns []Judged) float64 { return Evidence{0.01}.DesignEffect(turns) }
	if got := effect(even); got != 1 {
		t.Errorf("even blocks have a design effect of %g, want 1", got)
	}
	// Whole blocks fail together: ten turns prove as much as one.
	if got := effect(bursts); got < 9 || got > 11 {
		t.Errorf("bursts of ten have a design effect of %g, want about 10", got)
	}
	if got := effect([]Judged{{Good: 5}}); got != 1 {
		t.Errorf("one block has a design effect of %g, want 1", got)
	}
}
