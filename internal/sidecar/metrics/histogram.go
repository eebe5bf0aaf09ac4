package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/sketch"
)

// Classic buckets in seconds, for Prometheus servers without native histograms. Each bucket costs a line per series
// and scrape, so there are few, dense around the usual objectives.
func buckets() map[string][]float64 {
	return map[string][]float64{
		ttft: {0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30},
		tpot: {0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.1, 0.25, 2},
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

// newHistogram returns a histogram with native and classic buckets; each exposition format uses those it supports.
// Native exemplars would repeat the classic ones.
func newHistogram(name string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: name, Buckets: buckets()[name],
		NativeHistogramBucketFactor: bucketFactor, NativeHistogramZeroThreshold: zeroThreshold,
		NativeHistogramMaxExemplars: -1,
	})
}

// newTotal returns a summary without quantiles: a count and a sum.
func newTotal(name string) prometheus.Summary {
	return prometheus.NewSummary(prometheus.SummaryOpts{Name: name})
}

// distribution is a latency: the total, the values of the last minute and, unless it is nil, a histogram. The quantiles
// of the last minute are those of a sketch: client_golang's summary takes 26 to 76 kB for a window of one minute, which
// are 156 to 456 MB for the six of each of 1,000 targets.
type distribution struct {
	total     prometheus.Summary
	window    sketch.Window
	histogram prometheus.Histogram
}

// observe counts a duration, with the trace ID of its turn unless it is "". A negative duration, from a clock that
// went backwards, counts as 0.
func (d *distribution) observe(took time.Duration, trace string, now time.Time) {
	v := max(took, 0).Seconds()
	d.total.Observe(v)
	d.window.Add(now, v)
	switch {
	case d.histogram == nil:
	case trace == "":
		d.histogram.Observe(v)
	default:
		d.histogram.(prometheus.ExemplarObserver).ObserveWithExemplar(v, prometheus.Labels{LabelTraceID: trace})
	}
}

// written returns a metric of client_golang with labels.
func written(m prometheus.Metric, l labels) *dto.Metric {
	out := &dto.Metric{}
	_ = m.Write(out) // it cannot fail: the labels of client_golang are none
	out.Label = l
	return out
}
