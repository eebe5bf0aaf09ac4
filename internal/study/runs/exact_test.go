package runs

import (
	"math"
	"testing"
)

// TestByChance compares with numbers of ways that can be counted by hand.
func TestByChance(t *testing.T) {
	for _, tt := range []struct {
		first, second Tally
		want          float64
	}{
		{Tally{Good: 3, Bad: 1}, Tally{Good: 1, Bad: 3}, 17.0 / 70},          // Fisher's tea
		{Tally{Good: 10, Bad: 0}, Tally{Good: 5, Bad: 5}, 252.0 / 15504},     // C(10,5) / C(20,5)
		{Tally{Good: 10, Bad: 0}, Tally{Good: 5.5, Bad: 5.9}, 792.0 / 26334}, // counts as 5 of 12: C(12,5) / C(22,5)
		{Tally{Good: 5, Bad: 5}, Tally{Good: 5, Bad: 5}, 1},
		{Tally{Good: 5, Bad: 5}, Tally{Good: 9, Bad: 1}, 1},
		{Tally{Good: 0, Bad: 0}, Tally{Good: 1, Bad: 1}, 1},
		{Tally{Good: 1e18, Bad: 1}, Tally{Good: 1, Bad: 1e18}, 1}, // too many to compute
	} {
		if got := ByChance(tt.first, tt.second); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v, %v: %g, want %g", tt.first, tt.second, got, tt.want)
		}
	}
	if got := ByChance(Tally{Good: 1e6}, Tally{Good: 9e5, Bad: 1e5}); got != 0 {
		t.Errorf("a tenth of a million against none: %g", got)
	}
}
