package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// durations are latencies of many sizes, and every bound there is.
func durations(l *layout, n int) []time.Duration {
	rng := rand.New(rand.NewPCG(5, 6))
	ds := []time.Duration{0, 1, 953, 954, time.Microsecond, time.Second, 4 * time.Hour}
	for exp := -19; exp < 14; exp++ {
		ds = append(ds, time.Duration(math.Ldexp(1e9, exp)))
	}
	for _, b := range l.bounds {
		ds = append(ds, b-1, b, b+1)
	}
	for range n {
		ds = append(ds, time.Duration(math.Exp(rng.NormFloat64()*3)*25e6))
	}
	return ds
}

// TestHistogramMatchesClientGolang shows the same values to client_golang's own
// histogram and wants the same buckets, native and classic.
func TestHistogramMatchesClientGolang(t *testing.T) {
	for name, bounds := range map[string][]time.Duration{
		"token": tokenBuckets(), "pace": paceBuckets(), "turn": turnBuckets(),
		"conversation": conversationBuckets(), "phase": phaseBuckets(), "lag": lagBuckets(),
	} {
		for _, n := range []int{0, 3, 20000} {
			l := newLayout(bounds, false)
			h := newHistogram(l)
			reference := prometheus.NewHistogram(prometheus.HistogramOpts{
				Name: "h", Help: "h", Buckets: l.upper[:len(bounds)],
				NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: zeroThreshold,
			})
			for _, d := range durations(l, n) {
				h.observe(d)
				reference.Observe(d.Seconds())
			}
			var want dto.Metric
			if err := reference.Write(&want); err != nil {
				t.Fatal(err)
			}
			hf := newHistogramFrame(nil, h)
			hf.fill()
			requireSameHistogram(t, name, &hf.histogram, want.Histogram)
		}
	}
}

// flat is a histogram as plain values.
type flat struct {
	Count, Zero uint64
	Schema      int32
	Threshold   float64
	Spans       [][2]int64
	Deltas      []int64
	Classic     map[float64]uint64
}

func flatten(h *dto.Histogram) flat {
	f := flat{
		Count: h.GetSampleCount(), Zero: h.GetZeroCount(), Schema: h.GetSchema(),
		Threshold: h.GetZeroThreshold(), Deltas: append([]int64{}, h.PositiveDelta...),
		Classic: map[float64]uint64{},
	}
	for _, s := range h.PositiveSpan {
		f.Spans = append(f.Spans, [2]int64{int64(s.GetOffset()), int64(s.GetLength())})
	}
	for _, b := range h.Bucket {
		f.Classic[b.GetUpperBound()] = b.GetCumulativeCount()
	}
	return f
}

func requireSameHistogram(t *testing.T, name string, got, want *dto.Histogram) {
	t.Helper()
	if diff := cmp.Diff(flatten(want), flatten(got)); diff != "" {
		t.Errorf("%s (-client_golang +ours):\n%s", name, diff)
	}
	if math.Abs(got.GetSampleSum()-want.GetSampleSum()) > 1e-9*want.GetSampleSum() {
		t.Errorf("%s: sum %g, want %g", name, got.GetSampleSum(), want.GetSampleSum())
	}
}

// TestHistogramRefill fills one frame again and again: what the last scrape
// left behind must not show.
func TestHistogramRefill(t *testing.T) {
	l := newLayout(paceBuckets(), false)
	h := newHistogram(l)
	reused := newHistogramFrame(nil, h)
	for i, d := range durations(l, 500) {
		h.observe(d)
		if i%7 > 0 {
			continue
		}
		reused.fill()
		fresh := newHistogramFrame(nil, h)
		fresh.fill()
		requireSameHistogram(t, "refilled", &reused.histogram, &fresh.histogram)
	}
}

func TestHistogramIsBounded(t *testing.T) {
	h := newHistogram(newLayout(tokenBuckets(), false))
	for _, d := range []time.Duration{-time.Second, 0, 1, 1000, math.MaxInt64} {
		h.observe(d)
	}
	if h.count != 5 || h.zero != 3 {
		t.Errorf("count %d, zero bucket %d; want 5 and 3", h.count, h.zero)
	}
	span := (nativeMaxExp - nativeMinExp) * nativePerTwo
	if got := len(h.native); got > span+8 {
		t.Errorf("%d native buckets, want at most %d and the slack", got, span)
	}
	if last := h.low + len(h.native) - 1; h.native[nativeMaxExp*nativePerTwo-h.low] != 1 || last > nativeMaxExp*nativePerTwo+4 {
		t.Errorf("the largest value is not in the last bucket: %d buckets up to %d", len(h.native), last)
	}
}

func TestHistogramSumHasNoNoise(t *testing.T) {
	h := newHistogram(newLayout(tokenBuckets(), false))
	for range 3 {
		h.observe(100 * time.Millisecond)
	}
	hf := newHistogramFrame(nil, h)
	if hf.fill(); hf.sum != 0.3 {
		t.Errorf("3 × 0.1 s = %v, want 0.3", hf.sum)
	}
}

func TestExemplarRate(t *testing.T) {
	h := newHistogram(newLayout(tokenBuckets(), true))
	const bucket = 4 // 0.25 … 0.5 s
	for _, tt := range []struct {
		after time.Duration
		trace string
		want  string
	}{
		{0, "a", "a"},
		{exemplarEvery - 1, "b", "a"},
		{exemplarEvery, "", "a"},
		{exemplarEvery, "c", "c"},
	} {
		h.trace(300*time.Millisecond, tt.trace, start.Add(tt.after))
		if got := h.exemplars[bucket].trace; got != tt.want {
			t.Errorf("after %v and trace %q: exemplar %q, want %q", tt.after, tt.trace, got, tt.want)
		}
	}
	if h.count != 4 {
		t.Errorf("%d values counted, want 4", h.count)
	}
}

func BenchmarkObserve(b *testing.B) {
	l := newLayout(paceBuckets(), false)
	h := newHistogram(l)
	ds := durations(l, 4000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.observe(ds[i%len(ds)])
	}
}
