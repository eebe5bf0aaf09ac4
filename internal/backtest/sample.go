package backtest

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
)

// eachSample gives the samples of a message as a scrape without native
// histograms does: the suffix of the name, the label that it adds if any, and
// the value. Summaries are left out; no rule should read them.
func eachSample(m *dto.Metric, add func(suffix, label, labelValue string, v float64)) {
	switch {
	case m.Counter != nil:
		add("", "", "", m.Counter.GetValue())
	case m.Gauge != nil:
		add("", "", "", m.Gauge.GetValue())
	case m.Histogram != nil:
		for _, b := range m.Histogram.Bucket {
			if !math.IsInf(b.GetUpperBound(), 1) {
				add("_bucket", "le", strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64), float64(b.GetCumulativeCount()))
			}
		}
		count := float64(m.Histogram.GetSampleCount())
		add("_bucket", "le", "+Inf", count)
		add("_sum", "", "", m.Histogram.GetSampleSum())
		add("_count", "", "", count)
	}
}
