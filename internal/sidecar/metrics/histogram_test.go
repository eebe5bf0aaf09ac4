package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/testing/protocmp"
)

// TestHistogramIsBounded checks that even absurd durations create no more buckets than the docs
// promise, and that a negative one counts as 0.
func TestHistogramIsBounded(t *testing.T) {
	h := newHistogram(ttft)
	for _, d := range []time.Duration{-time.Second, 0, 1, 1000, math.MaxInt64} {
		h.observe(d, "")
	}
	for d := time.Duration(1); d < math.MaxInt64/2; d += d/16 + 1 {
		h.observe(d, "")
	}
	got := h.written()
	if got.GetZeroThreshold() != zeroThreshold || got.GetSchema() != nativeSchema || got.GetSampleSum() < 0 {
		t.Errorf("schema %d, zero threshold %g, sum %g", got.GetSchema(), got.GetZeroThreshold(), got.GetSampleSum())
	}
	buckets := len(got.PositiveDelta)
	if buckets < 400 || buckets > 430 || len(got.NegativeDelta) > 0 {
		t.Errorf("%d positive and %d negative buckets, want about 430 and none", buckets, len(got.NegativeDelta))
	}
}

// TestHistogramEqualsClientGolang compares the histogram with client_golang's, on and beside the bounds of buckets,
// with gaps between buckets, and with exemplars.
func TestHistogramEqualsClientGolang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // both take the time of exemplars from the clock
		for _, family := range []string{ttft, tpot, ScheduleLag} {
			ours, theirs := newHistogram(family), prometheus.NewHistogram(HistogramOpts(family))
			rng := rand.New(rand.NewPCG(1, 2))
			durations := []time.Duration{0, 1, 953, 954, 1000, 1 << 30, 125 * time.Millisecond, math.MaxInt64}
			for _, bound := range HistogramOpts(family).Buckets {
				at := time.Duration(bound * 1e9)
				durations = append(durations, at-1, at, at+1)
			}
			chosen := len(durations)
			for range 300 {
				durations = append(durations, time.Duration(math.Exp(4*rng.NormFloat64())*25e6))
			}
			for i, d := range durations {
				time.Sleep(time.Second)
				var labels prometheus.Labels
				trace := ""
				if i%3 == 0 {
					trace = "4bf92f3577b34da6a3ce929d0e0e4736"
					labels = prometheus.Labels{LabelTraceID: trace}
				}
				ours.observe(d, trace)
				theirs.(prometheus.ExemplarObserver).ObserveWithExemplar(d.Seconds(), labels)
				if i >= chosen && i%10 != 0 && i < len(durations)-1 {
					continue // counts keep a mistake until the next comparison
				}
				var want dto.Metric
				if err := theirs.Write(&want); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.Histogram, ours.written(), protocmp.Transform()); diff != "" {
					t.Fatalf("%s after %v (-client_golang +ours):\n%s", family, durations[:i+1], diff)
				}
			}
		}
	})
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
		h.observe(ds[i%len(ds)], "")
	}
}
