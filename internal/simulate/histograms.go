package simulate

import (
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// histograms are the families of one server.
type histograms []*prometheus.HistogramVec

// The first three of both servers, and what follows them.
const (
	ttft, itl, e2e        = 0, 1, 2
	tpot                  = 3       // of vLLM
	input, output, cached = 3, 4, 5 // of Dynamo
)

// of returns the series of some label values.
func (h histograms) of(labels ...string) []prometheus.Observer {
	var series []prometheus.Observer
	for _, family := range h {
		series = append(series, family.WithLabelValues(labels...))
	}
	return series
}

// collect hands out all series.
func (h histograms) collect(out chan<- prometheus.Metric) {
	for _, family := range h {
		family.Collect(out)
	}
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// vllmHistograms have vLLM's own buckets, coarse as they are: what reads them
// should meet the same resolution here.
func vllmHistograms() histograms {
	perToken := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	first := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	whole := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	const model, engine = "model_name", "engine"
	return histograms{
		ttft: histogram("vllm:time_to_first_token_seconds", "Time from arrival to the first token.", first, model, engine),
		itl:  histogram("vllm:inter_token_latency_seconds", "Time between two token events of an answer.", perToken, model, engine),
		e2e:  histogram("vllm:e2e_request_latency_seconds", "Time from arrival to the end of the answer.", whole, model, engine),
		tpot: histogram("vllm:request_time_per_output_token_seconds", "Time per token of a whole answer after its first.", perToken, model, engine),
	}
}

// dynamoHistograms have the names and buckets of Dynamo's frontend.
func dynamoHistograms() histograms {
	prompts := logBuckets(50, 128000, 12)
	const prefix, model = "dynamo_frontend_", "model"
	return histograms{
		ttft:   histogram(prefix+"time_to_first_token_seconds", "Time from arrival at the frontend to the first token.", logBuckets(.001, 480, 18), model),
		itl:    histogram(prefix+"inter_token_latency_seconds", "Time between two token events of an answer.", logBuckets(.001, 2, 13), model),
		e2e:    histogram(prefix+"request_duration_seconds", "Time from arrival at the frontend to the end.", logBuckets(1, 256, 10), model),
		input:  histogram(prefix+"input_sequence_tokens", "Tokens of a prompt.", prompts, model),
		output: histogram(prefix+"output_sequence_tokens", "Tokens of an answer.", logBuckets(50, 32000, 10), model),
		cached: histogram(prefix+"cached_tokens", "Tokens of a prompt that were cached.", prompts, model),
	}
}

// hitRates is the histogram of Dynamo's router.
func hitRates() histograms {
	return histograms{histogram("dynamo_component_router_kv_hit_rate", "Share of a prompt that was cached where it was routed to.",
		prometheus.LinearBuckets(0, .05, 21))}
}

// logBuckets are n bounds from low to high at equal ratios, rounded to two
// significant digits.
func logBuckets(low, high float64, n int) []float64 {
	var all []float64
	for i := range n {
		v := low * math.Pow(high/low, float64(i)/float64(n-1))
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64) // what FormatFloat wrote
		all = append(all, rounded)
	}
	return all
}
