package runs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"synthetic/internal/sketch"
)

func values(n int) *sketch.Sketch {
	s := &sketch.Sketch{}
	for i := range n {
		s.Add(float64(i + 1))
	}
	return s
}

func estimate(q float64, all []Series, failures bool) Quantile {
	return EstimateQuantile(q, all, pool(all), failures)
}

// pool returns the union of all blocks.
func pool(all []Series) Distribution {
	pooled := Distribution{Values: &sketch.Sketch{}}
	for _, b := range slices.Concat(all...) {
		pooled.Merge(b)
	}
	return pooled
}

// known reports whether an interval has both ends.
func known(q Quantile) bool { return !math.IsNaN(q.Low) && !math.IsNaN(q.High) }

func TestNoQuantileFromTooFew(t *testing.T) {
	for _, tt := range []struct {
		q     float64
		least int
	}{{0.5, 6}, {0.95, 72}, {0.99, 368}} {
		few := estimate(tt.q, []Series{{{Values: values(tt.least - 1)}}}, false)
		if known(few) {
			t.Errorf("q = %g of %d values is known: %+v", tt.q, tt.least-1, few)
		}
		if enough := estimate(tt.q, []Series{{{Values: values(tt.least)}}}, false); !known(enough) {
			t.Errorf("q = %g of %d values is not known: %+v", tt.q, tt.least, enough)
		}
	}
}

// TestTextbookInterval compares with the exact interval between order statistics: for 100
// values and the median, the 40th and the 61st.
func TestTextbookInterval(t *testing.T) {
	e := estimate(0.5, []Series{{{Values: values(100)}}}, false)
	if math.Abs(e.Low-40) > 1.5 || math.Abs(e.High-61) > 1.5 || math.Abs(e.Value-50) > 0.5 {
		t.Errorf("median of 1 … 100: %.1f (%.1f to %.1f), want 50 (40 to 61)", e.Value, e.Low, e.High)
	}
}

func TestFailuresAtInfinity(t *testing.T) {
	series := []Series{{{Values: values(95), Failures: 5}}}
	alone, all := estimate(0.9, series, false), estimate(0.9, series, true)
	if alone.N != 95 || all.N != 100 || !(all.Value > alone.Value) {
		t.Errorf("over successes %+v, over all %+v", alone, all)
	}
	if e := estimate(0.96, series, true); !math.IsInf(e.Value, 1) || !math.IsInf(e.High, 1) {
		t.Errorf("p96 with 5 %% failed is %g (to %g), want +∞", e.Value, e.High)
	}
	if e := estimate(0.94, series, true); math.IsInf(e.Value, 1) || !math.IsInf(e.High, 1) {
		t.Errorf("p94 with 5 %% failed is %g (to %g), want a value and no upper end", e.Value, e.High)
	}
	if e := estimate(0.5, []Series{{{Values: values(0), Failures: 40}}}, true); !math.IsInf(e.Value, 1) {
		t.Errorf("the median of failures alone is %g, want +∞", e.Value)
	}
}

func TestNothing(t *testing.T) {
	e := estimate(0.99, nil, true)
	if !math.IsNaN(e.Value) || known(e) || e.N != 0 {
		t.Errorf("of nothing: %+v", e)
	}
	if r := EstimateRatio(nil); !math.IsNaN(r.Value) || !math.IsNaN(r.Low) {
		t.Errorf("ratio of nothing: %+v", r)
	}
	if r := EstimateShare([][]Pair{{{0, 0}}}); !math.IsNaN(r.Value) {
		t.Errorf("share of no turns: %+v", r)
	}
}

func TestNoFailureIsNoCertainty(t *testing.T) {
	r := EstimateShare([][]Pair{{{0, 300}}})
	if r.Value != 0 || r.Low != 0 || math.Abs(r.High-0.0122) > 0.0005 {
		t.Errorf("0 of 300: %+v, want 0 (0 to 0.0122)", r)
	}
	if r := EstimateShare([][]Pair{{{300, 300}}}); r.High != 1 || !(r.Low > 0.98) {
		t.Errorf("300 of 300: %+v", r)
	}
}

// TestStaircase: a deployment that takes 42 ms for minutes and then 43 ms has a well-known
// median, although no order statistic bounds it.
func TestStaircase(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	series := Series{}
	for i := range 30 {
		b := Distribution{Values: &sketch.Sketch{}}
		for range 40 {
			b.Values.Add(0.042 + 0.001*float64(i/6%2) + 1e-5*rng.Float64())
		}
		series = append(series, b)
	}
	e := estimate(0.5, []Series{series}, false)
	if !known(e) || e.Low < 0.038 || e.High > 0.047 || e.Low > 0.042 || e.High < 0.0425 {
		t.Errorf("median %.4f (%.4f to %.4f), want about 0.0425 within some ms", e.Value, e.Low, e.High)
	}
	few := estimate(0.99, []Series{series[:8]}, false)
	if known(few) {
		t.Errorf("p99 of %d turns in steps: %+v, want no interval", few.N, few)
	}
}

// TestMoved: lateness takes away the figures that it can have moved, by its size.
func TestMoved(t *testing.T) {
	turns := func(late int, by float64) Lag {
		lag := Lag{Turns: &sketch.Sketch{}, Values: 1, Tokens: 1}
		for i := range 1000 {
			lag.Turns.Add(by * float64((i+late)/1000))
		}
		return lag
	}
	gaps := turns(10, 0.011) // in one gap of a hundredth of the turns
	gaps.Values = 100
	tokens := turns(1000, 0.2)
	tokens.Tokens = 100
	of := func(q, value, low float64) Quantile { return Quantile{Q: q, Value: value, Low: low, High: 1.1 * value} }
	for name, tt := range map[string]struct {
		q    Quantile
		by   Lag
		want float64 // the lower end
	}{
		"11 ms in a few gaps, p50":   {of(0.5, 0.040, 0.039), gaps, 0.039},
		"11 ms in a few gaps, p99":   {of(0.99, 0.050, 0.048), gaps, 0.048},
		"0.1 s in 1 % of turns, p50": {of(0.5, 0.2, 0.19), turns(10, 0.1), 0.19},
		"0.1 s in 1 % of turns, p99": {of(0.99, 0.3, 0.29), turns(10, 0.1), 0.2},
		"0.1 s in all turns, p50":    {of(0.5, 0.2, 0.19), turns(1000, 0.1), 0.1},
		"longer than the value":      {of(0.5, 0.2, 0.19), turns(1000, 1), math.NaN()},
		"less than its interval":     {of(0.5, 0.2, 0.15), turns(1000, 0.01), 0.15},
		"over 100 tokens":            {of(0.5, 0.040, 0.0395), tokens, 0.038},
		"never":                      {of(0.5, 0.2, 0.19), Lag{Turns: &sketch.Sketch{}, Values: 1, Tokens: 1}, 0.19},
	} {
		got := tt.q.Moved(tt.by).Low
		if math.Abs(got-tt.want) > 2e-3 && math.IsNaN(got) == math.IsNaN(tt.want) || math.IsNaN(got) != math.IsNaN(tt.want) {
			t.Errorf("%s: the lower end is %g, want %g", name, got, tt.want)
		}
	}
}
