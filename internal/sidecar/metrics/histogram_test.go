package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// nativeSchema has buckets that grow by 2^(1/8).
const nativeSchema = 3

// TestHistogramIsBounded checks that even absurd durations create no more buckets than the docs
// promise, and that a negative one counts as 0.
func TestHistogramIsBounded(t *testing.T) {
	h := newHistogram(ttft)
	for _, d := range []time.Duration{-time.Second, 0, 1, 1000, math.MaxInt64} {
		observe(h, d, nil)
	}
	for d := time.Duration(1); d < math.MaxInt64/2; d += d/16 + 1 {
		observe(h, d, nil)
	}
	got := written(h)
	if got.GetZeroThreshold() != zeroThreshold || got.GetSchema() != nativeSchema || got.GetSampleSum() < 0 {
		t.Errorf("schema %d, zero threshold %g, sum %g", got.GetSchema(), got.GetZeroThreshold(), got.GetSampleSum())
	}
	buckets := len(got.PositiveDelta)
	if buckets < 400 || buckets > 430 || len(got.NegativeDelta) > 0 {
		t.Errorf("%d positive and %d negative buckets, want about 430 and none", buckets, len(got.NegativeDelta))
	}
}

func BenchmarkObserve(b *testing.B) {
	h := newHistogram(tpot)
	rng := rand.New(rand.NewPCG(5, 6))
	ds := make([]time.Duration, 4096)
	for i := range ds {
		ds[i] = time.Duration(math.Exp(rng.NormFloat64()) * 25e6)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		observe(h, ds[i%len(ds)], nil)
	}
}
