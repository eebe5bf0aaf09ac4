package metrics

import (
	"time"

	dto "github.com/prometheus/client_model/go"

	"synthetic/internal/sketch"
)

// windowRanks are the quantiles that are shown of each window.
const windowRanks = 3

func quantiles() [windowRanks]float64 { return [windowRanks]float64{0.5, 0.95, 0.99} }

// windowFrame shows one 60-second window as a summary. Its quantiles are of the
// window, NaN when that is empty; its count and sum never fall, as the type
// demands, and so are those of the histogram beside it.
type windowFrame struct {
	window    *sketch.Window
	beside    *histogram
	metric    dto.Metric
	summary   dto.Summary
	count     uint64
	sum       float64
	ranks     [windowRanks]float64
	values    [windowRanks]float64
	quantiles [windowRanks]dto.Quantile
}

func newWindowFrame(l labels, w *sketch.Window, h *histogram) *windowFrame {
	wf := &windowFrame{window: w, beside: h, ranks: quantiles()}
	s := &wf.summary
	s.SampleCount, s.SampleSum = &wf.count, &wf.sum
	for i := range wf.quantiles {
		q := &wf.quantiles[i]
		q.Quantile, q.Value = &wf.ranks[i], &wf.values[i]
		s.Quantile = append(s.Quantile, q)
	}
	wf.metric.Label, wf.metric.Summary = l, s
	return wf
}

// fill takes the quantiles of the window that ends now; the job's lock must be
// held.
func (wf *windowFrame) fill(now time.Time, scratch *sketch.Sketch) {
	wf.count, wf.sum = wf.beside.count, wf.beside.sum/1e9
	wf.window.Collect(now, scratch)
	for i, q := range wf.ranks {
		wf.values[i] = scratch.Quantile(q)
	}
}
