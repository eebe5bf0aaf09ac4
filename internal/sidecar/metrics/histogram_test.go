package metrics

import (
	"math"
	"testing"
	"time"
)

// TestHistogramIsBounded checks that even absurd durations create no more buckets than the docs
// promise, and that a negative one counts as 0.
func TestHistogramIsBounded(t *testing.T) {
	d := distribution{total: newTotal(ttftWindow), histogram: newHistogram(ttft)}
	for _, took := range []time.Duration{-time.Second, 0, 1, 1000, math.MaxInt64} {
		d.observe(took, "", start)
	}
	for took := time.Duration(1); took < math.MaxInt64/2; took += took/16 + 1 {
		d.observe(took, "", start)
	}
	got := written(d.histogram, nil).Histogram
	if got.GetZeroThreshold() != zeroThreshold || got.GetSchema() != 3 || got.GetSampleSum() < 0 {
		t.Errorf("schema %d, zero threshold %g, sum %g", got.GetSchema(), got.GetZeroThreshold(), got.GetSampleSum())
	}
	buckets := len(got.PositiveDelta)
	if buckets < 400 || buckets > 430 || len(got.NegativeDelta) > 0 {
		t.Errorf("%d positive and %d negative buckets, want about 430 and none", buckets, len(got.NegativeDelta))
	}
}
