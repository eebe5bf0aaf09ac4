//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGrowth: a leak is found despite noise and outliers, and noise alone is not taken for
// a leak.
func TestGrowth(t *testing.T) {
	for name, tt := range map[string]struct {
		perHour float64
		grows   bool
	}{"flat": {0, false}, "falling": {-30, false}, "a leak": {30, true}} {
		rng := rand.New(rand.NewPCG(1, 2))
		var x, y []float64
		for i := range 900 {
			v := 20 + tt.perHour*float64(i)/1800 + rng.NormFloat64()
			if i%10 == 0 {
				v += 100 // a scrape during a burst of requests
			}
			x, y = append(x, float64(2*i)), append(y, v)
		}
		gained, chance := fit(x, y).growth()
		if math.Abs(gained-tt.perHour/2) > 1 || (gained > chance) != tt.grows {
			t.Errorf("%s: gain %+.2f, by chance %.2f", name, gained, chance)
		}
	}
	if l := fit(nil, nil); l.N != 0 || l.Slope != 0 {
		t.Errorf("a line without points: %+v", l)
	}
	if l := fit([]float64{1, 1}, []float64{0, 9}); l.Slope != 0 {
		t.Errorf("a line with one x: %+v", l)
	}
}
