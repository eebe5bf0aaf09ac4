package workload

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRatioSettles(t *testing.T) {
	r := newRatio()
	rng := rand.New(rand.NewPCG(1, 1))
	changes, last := 0, r.value()
	for range 1000 {
		r.Learn(int(5000*(3.7+0.05*rng.NormFloat64())), 5000)
		if v := r.value(); v != last {
			changes, last = changes+1, v
		}
	}
	if math.Abs(last/3.7-1) > 0.05 {
		t.Errorf("learned %v, want 3.7 ± 5 %%", last)
	}
	if changes > 4 {
		t.Errorf("the ratio moved %d times and does not settle", changes)
	}
}

func TestRatioResistsAbsurdCounts(t *testing.T) {
	tests := map[string]struct {
		chars, tokens int
		times         int
		want          float64
	}{
		"a minority of outliers": {10_000, 1, ratioSamples / 2, 4},
		"no tokens":              {1000, 0, 100, 4},
		"no characters":          {0, 100, 100, 4},
		"negative tokens":        {1000, -5, 100, 4},
		"only absurdly many":     {1, 1000, 100, minCharsPerToken},
		"only absurdly few":      {100_000, 1, 100, maxCharsPerToken},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRatio()
			for range ratioSamples {
				r.Learn(4000, 1000)
			}
			for range tt.times {
				r.Learn(tt.chars, tt.tokens)
			}
			if got := r.value(); math.Abs(got/tt.want-1) > 0.02 {
				t.Errorf("the ratio is %v, want %v", got, tt.want)
			}
		})
	}
}
