package simulate

import "github.com/prometheus/client_golang/prometheus"

// histograms are the latencies of engines, by model and engine.
type histograms struct{ ttft, itl *prometheus.HistogramVec }

// newHistograms returns histograms with the names and the coarse buckets of vLLM, so that their
// readers meet the real resolution.
func newHistograms() histograms {
	perToken := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	first := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	return histograms{
		ttft: histogram("time_to_first_token_seconds", "Time from arrival to the first token.", first),
		itl:  histogram("inter_token_latency_seconds", "Time between two token events of an answer.", perToken),
	}
}

func histogram(name, help string, buckets []float64) *prometheus.HistogramVec {
	o := prometheus.HistogramOpts{Name: "vllm:" + name, Help: help, Buckets: buckets}
	return prometheus.NewHistogramVec(o, []string{"model_name", "engine"})
}

func (h histograms) collect(out chan<- prometheus.Metric) {
	h.ttft.Collect(out)
	h.itl.Collect(out)
}

// observe counts a token event: the first one of an answer, or a later one.
func (h histograms) observe(model, engine string, isFirst bool, seconds float64) {
	family := h.itl
	if isFirst {
		family = h.ttft
	}
	family.WithLabelValues(model, engine).Observe(seconds)
}
