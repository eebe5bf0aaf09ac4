package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// layout holds the classic buckets of some families, for Prometheus servers without native
// histograms. Each bucket costs a line per series and scrape, so there are few, dense around
// the usual objectives.
type layout struct {
	Names []string
	// Bounds are in seconds.
	Bounds []float64
}

func layouts() []layout {
	return []layout{
		{[]string{ttft, answerTTFT}, []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120}},
		{[]string{tpot, itl}, []float64{0.001, 0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1, 0.25, 2}},
		{[]string{turnDuration}, []float64{0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 200, 600}},
		// Think times are included.
		{[]string{conversationDuration}, []float64{1, 5, 15, 30, 60, 120, 300, 900, 3600}},
		// These tell a local dial from a queue in front of the engine.
		{[]string{PhaseDuration, GatewayOverhead}, []float64{0.001, 0.005, 0.02, 0.1, 1, 10}},
		// Lags are looked at for their order of magnitude.
		{[]string{ScheduleLag, ReadLag}, []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}},
	}
}

const (
	// bucketFactor is the largest growth from one native bucket to the next. client_golang uses
	// 2^(1/8), which is schema 3.
	bucketFactor = 1.1
	// zeroThreshold is the width of the native zero bucket: 2^-20 s, about a microsecond. A
	// time.Duration ends at 2^33 s, so a histogram has at most about 430 buckets and needs
	// neither a reset nor a coarser schema.
	zeroThreshold = 1.0 / (1 << 20)
)

// HistogramOpts returns options for native and classic buckets; each exposition format uses
// those it supports. Native exemplars would repeat the classic ones.
func HistogramOpts(name string) prometheus.HistogramOpts {
	all := layouts()
	i := slices.IndexFunc(all, func(l layout) bool { return slices.Contains(l.Names, name) })
	return prometheus.HistogramOpts{
		Name: name, Buckets: all[i].Bounds,
		NativeHistogramBucketFactor: bucketFactor, NativeHistogramZeroThreshold: zeroThreshold,
		NativeHistogramMaxExemplars: -1,
	}
}
