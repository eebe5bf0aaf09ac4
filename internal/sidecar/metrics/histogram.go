package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// layout are the classic buckets of some families, for Prometheus servers that
// do not take native histograms. Each bucket is a line per series and scrape, so
// there are few, dense where the objectives of such services usually lie.
type layout struct {
	Names []string
	// Bounds are in seconds.
	Bounds []float64
}

func layouts() []layout {
	return []layout{
		{[]string{TTFT, AnswerTTFT, StudyTTFT}, []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120}},
		{[]string{TPOT, ITL, StudyTPOT, StudyITL}, []float64{0.001, 0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1, 0.25, 2}},
		{[]string{TurnDuration, StudyTurnDuration}, []float64{0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 200, 600}},
		// Think times are included.
		{[]string{ConversationDuration}, []float64{1, 5, 15, 30, 60, 120, 300, 900, 3600}},
		// These tell a local dial from a queue in front of the engine.
		{[]string{PhaseDuration}, []float64{0.001, 0.005, 0.02, 0.1, 1, 10}},
		// Lags are looked at for their order of magnitude.
		{[]string{ScheduleLag, ReadLag}, []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}},
	}
}

const (
	// bucketFactor is the largest growth from one native bucket to the next.
	// client_golang takes 2^(1/8), which is schema 3.
	bucketFactor = 1.1
	// zeroThreshold is the width of the native zero bucket: 2^-20 s, about a
	// microsecond. A time.Duration ends at 2^33 s, so there are never more than
	// some 430 buckets, and neither a reset nor a coarser schema is needed to
	// hold a histogram in bounds.
	zeroThreshold = 1.0 / (1 << 20)
)

// newHistogram makes a histogram of a family. Its labels are put on when it is
// gathered.
func newHistogram(name string) prometheus.Histogram {
	return prometheus.NewHistogram(HistogramOpts(name))
}

// HistogramOpts are those of a family, native and classic at once: each exposition
// format takes what it knows. Native exemplars would be the classic ones once more.
func HistogramOpts(name string) prometheus.HistogramOpts {
	all := layouts()
	i := slices.IndexFunc(all, func(l layout) bool { return slices.Contains(l.Names, name) })
	return prometheus.HistogramOpts{
		Name: name, Buckets: all[i].Bounds,
		NativeHistogramBucketFactor: bucketFactor, NativeHistogramZeroThreshold: zeroThreshold,
		NativeHistogramMaxExemplars: -1,
	}
}

// observe counts a duration, with the trace of its turn unless that is nil. A
// negative one, which only a clock that went backwards can give, counts as 0.
func observe(h prometheus.Histogram, d time.Duration, trace prometheus.Labels) {
	h.(prometheus.ExemplarObserver).ObserveWithExemplar(max(d, 0).Seconds(), trace)
}
