package sketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// distributions returns realistic shapes of latencies and some extreme ones.
func distributions() map[string]func(*rand.Rand) float64 {
	return map[string]func(*rand.Rand) float64{
		"log-normal":  func(r *rand.Rand) float64 { return 0.4 * math.Exp(r.NormFloat64()/2) },
		"heavy tail":  func(r *rand.Rand) float64 { return 0.01 * math.Pow(1-r.Float64(), -1.5) },
		"uniform":     func(r *rand.Rand) float64 { return r.Float64() },
		"two peaks":   func(r *rand.Rand) float64 { return []float64{0.02, 30}[r.IntN(2)] * (1 + r.Float64()/10) },
		"all equal":   func(*rand.Rand) float64 { return 0.025 },
		"mostly zero": func(r *rand.Rand) float64 { return max(0, r.Float64()-0.8) },
		"any size":    func(r *rand.Rand) float64 { return math.Exp(r.Float64()*50 - 25) },
		"bin bounds":  func(r *rand.Rand) float64 { return math.Exp(float64(r.IntN(400)-200) * logGamma) },
	}
}

func sample(draw func(*rand.Rand) float64, seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	vs := make([]float64, n)
	for i := range vs {
		vs[i] = draw(r)
	}
	return vs
}

func sketchOf(values []float64) *Sketch {
	s := &Sketch{}
	for _, v := range values {
		s.Add(v)
	}
	return s
}

// exact returns the value of rank ⌈q n⌉.
func exact(sorted []float64, q float64) float64 {
	return sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1]
}

func TestQuantileRelativeError(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 10, 100, 5000} {
				values := sample(draw, uint64(n), n)
				s := sketchOf(values)
				slices.Sort(values)
				for _, q := range []float64{0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1} {
					want, got := exact(values, q), s.Quantile(q)
					// At the bounds of a bin the error is exactly Error, plus rounding.
					if math.Abs(got-want) > want*(Error+1e-9) {
						t.Errorf("n = %d: Quantile(%g) = %g, want %g within %g %%", n, q, got, want, 100*Error)
					}
				}
			}
		})
	}
}

func TestMergeIsUnion(t *testing.T) {
	for name, draw := range distributions() {
		t.Run(name, func(t *testing.T) {
			for _, sizes := range [][]int{{0, 0}, {0, 5}, {5, 0}, {1, 1}, {100, 3}, {1000, 1000, 10}} {
				var merged Sketch
				var all []float64
				for i, n := range sizes {
					part := sample(draw, uint64(i), n)
					all = append(all, part...)
					merged.Merge(sketchOf(part))
				}
				requireSame(t, &merged, sketchOf(all))
			}
		})
	}
}

func requireSame(t *testing.T, got, want *Sketch) {
	t.Helper()
	if !slices.Equal(got.bins, want.bins) || got.zero != want.zero || got.count != want.count {
		t.Fatalf("bins %v, zero %d, count %d; want %v, %d, %d",
			got.bins, got.zero, got.count, want.bins, want.zero, want.count)
	}
	if got.min != want.min || got.max != want.max {
		t.Errorf("extremes %g … %g, want %g … %g", got.min, got.max, want.min, want.max)
	}
	if math.Abs(got.sum-want.sum) > 1e-12*math.Abs(want.sum) {
		t.Errorf("sum %g, want %g", got.sum, want.sum)
	}
}

func TestMergeLeavesTheOther(t *testing.T) {
	a, b := sketchOf([]float64{1, 2}), sketchOf([]float64{3, 4})
	a.Merge(b)
	a.Add(3)
	requireSame(t, b, sketchOf([]float64{3, 4}))
	var empty Sketch
	empty.Merge(b)
	empty.Add(3)
	requireSame(t, b, sketchOf([]float64{3, 4}))
}

func TestEmpty(t *testing.T) {
	var s Sketch
	for name, v := range map[string]float64{"Min": s.Quantile(0), "Max": s.Quantile(1), "Quantile": s.Quantile(0.5)} {
		if !math.IsNaN(v) {
			t.Errorf("%s of an empty sketch = %g, want NaN", name, v)
		}
	}
	if s.Count() != 0 || s.Sum() != 0 || s.Bytes() != 0 {
		t.Errorf("empty: count %d, sum %g, %d bytes", s.Count(), s.Sum(), s.Bytes())
	}
}

func TestOddValues(t *testing.T) {
	s := sketchOf([]float64{math.NaN(), -1, math.Inf(1), math.Inf(-1), 1e-300})
	if s.Count() != 4 || s.Quantile(0) != 0 || s.Quantile(1) != Largest {
		t.Errorf("count %d, %g … %g; want 4 values, 0 … %g", s.Count(), s.Quantile(0), s.Quantile(1), Largest)
	}
	if got := s.Quantile(0.5); got != 0 {
		t.Errorf("median %g, want 0", got)
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if got := s.Quantile(q); !math.IsNaN(got) {
			t.Errorf("Quantile(%g) = %g, want NaN", q, got)
		}
	}
}

func TestExtremesAreExact(t *testing.T) {
	s := sketchOf([]float64{0.123, 0.456, 0.789})
	if s.Quantile(0) != 0.123 || s.Quantile(1) != 0.789 {
		t.Errorf("extremes %g … %g, want 0.123 … 0.789", s.Quantile(0), s.Quantile(1))
	}
}

func TestFullBinStaysFull(t *testing.T) {
	s := sketchOf([]float64{1})
	s.bins[0].count = math.MaxUint32
	s.Add(1)
	if got := s.bins[0].count; got != math.MaxUint32 {
		t.Errorf("a full bin counts %d after one more value", got)
	}
}

func TestBinsAreBounded(t *testing.T) {
	if n := index(Largest) - index(Smallest) + 1; n > 14400 {
		t.Errorf("%d bins at most, documented are 14,400", n)
	}
	if math.Abs(logGamma-math.Log(gamma)) > 1e-15 {
		t.Errorf("logGamma = %v, want %v", logGamma, math.Log(gamma))
	}
}

func TestReset(t *testing.T) {
	s := sketchOf([]float64{1, 2, 3})
	s.Reset()
	if s.Count() != 0 || s.Bytes() == 0 {
		t.Errorf("after Reset: count %d, %d bytes; want 0 values and the memory kept", s.Count(), s.Bytes())
	}
	s.Add(5)
	requireSame(t, s, sketchOf([]float64{5}))
}
