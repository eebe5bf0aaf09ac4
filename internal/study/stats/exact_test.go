package stats

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
		{Tally{3, 1}, Tally{1, 3}, 17.0 / 70},          // Fisher's tea
		{Tally{10, 0}, Tally{5, 5}, 252.0 / 15504},     // C(10,5) / C(20,5)
		{Tally{10, 0}, Tally{5.5, 5.9}, 792.0 / 26334}, // counts as 5 of 12: C(12,5) / C(22,5)
		{Tally{5, 5}, Tally{5, 5}, 1},
		{Tally{5, 5}, Tally{9, 1}, 1},
		{Tally{0, 0}, Tally{1, 1}, 1},
		{Tally{1e18, 1}, Tally{1, 1e18}, 1}, // too many to compute
	} {
		if got := ByChance(tt.first, tt.second); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v, %v: %g, want %g", tt.first, tt.second, got, tt.want)
		}
	}
	if got := ByChance(Tally{Good: 1e6}, Tally{9e5, 1e5}); got != 0 {
		t.Errorf("a tenth of a million against none: %g", got)
	}
}
