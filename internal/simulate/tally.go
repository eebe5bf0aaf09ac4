package simulate

import (
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// histograms are the histograms of one server.
type histograms []*prometheus.HistogramVec

// Indexes of histograms: those of both, of vLLM, and of Dynamo.
const (
	ttft = iota
	itl
	queue
	input = iota - 1
	output
	cached
)

// with returns the observers for label values.
func (h histograms) with(labels ...string) []prometheus.Observer {
	var out []prometheus.Observer
	for _, family := range h {
		out = append(out, family.WithLabelValues(labels...))
	}
	return out
}

func (h histograms) collect(out chan<- prometheus.Metric) {
	for _, family := range h {
		family.Collect(out)
	}
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// vllmHistograms returns histograms with the names and the coarse buckets of vLLM, so that their
// readers meet the real resolution.
func vllmHistograms() histograms {
	perToken := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	first := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	queued := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	const model, engine = "model_name", "engine"
	return histograms{
		ttft:  histogram("vllm:time_to_first_token_seconds", "Time from arrival to the first token.", first, model, engine),
		itl:   histogram("vllm:inter_token_latency_seconds", "Time between two token events of an answer.", perToken, model, engine),
		queue: histogram("vllm:request_queue_time_seconds", "Time from arrival to the first step, of requests that have ended.", queued, model, engine),
	}
}

// dynamoHistograms returns histograms with the names and buckets of Dynamo's frontend.
func dynamoHistograms() histograms {
	prompts := logBuckets(50, 128000, 12)
	const prefix, model = "dynamo_frontend_", "model"
	return histograms{
		ttft:   histogram(prefix+"time_to_first_token_seconds", "Time from arrival at the frontend to the first token.", logBuckets(.001, 480, 18), model),
		itl:    histogram(prefix+"inter_token_latency_seconds", "Time between two token events of an answer.", logBuckets(.001, 2, 13), model),
		input:  histogram(prefix+"input_sequence_tokens", "Tokens of a prompt.", prompts, model),
		output: histogram(prefix+"output_sequence_tokens", "Tokens of an answer.", logBuckets(50, 32000, 10), model),
		cached: histogram(prefix+"cached_tokens", "Cached tokens of a prompt.", prompts, model),
	}
}

// logBuckets returns n bounds from low to high at equal ratios, rounded to two significant digits.
func logBuckets(low, high float64, n int) []float64 {
	var all []float64
	for i := range n {
		v := low * math.Pow(high/low, float64(i)/float64(n-1))
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64) // parses what FormatFloat wrote
		all = append(all, rounded)
	}
	return all
}

// tally counts what a cluster does, as its engines and its frontend see it. Package cluster has
// further counters. The lock of the driver guards the fields that are not histograms.
type tally struct {
	vllm, dynamo histograms
	hitRate      histograms // empty unless the router is KV-aware

	engines  [][]prometheus.Observer // by worker
	frontend []prometheus.Observer
	queued   int // requests without a first token
	tokens   uint64
}

func newTally(config cluster.Config, model string) *tally {
	t := &tally{vllm: vllmHistograms(), dynamo: dynamoHistograms()}
	if config.Policy == cluster.KVAware {
		t.hitRate = histograms{histogram("dynamo_component_router_kv_hit_rate",
			"Share of a prompt that was cached on the worker it was routed to.", prometheus.LinearBuckets(0, .05, 21))}
		t.hitRate.with() // creates the series before the first request
	}
	for id := range config.Workers {
		t.engines = append(t.engines, t.vllm.with(model, strconv.Itoa(id)))
	}
	t.frontend = t.dynamo.with(model)
	return t
}

// observe counts an event. The histograms of engines exclude the delays of frontend and network.
func (t *tally) observe(c *call, e cluster.Event) {
	switch {
	case e.Kind != cluster.Tokens && c.output == 0:
		t.queued--
	case e.Kind != cluster.Tokens:
		t.frontend[output].Observe(float64(c.output))
		t.engines[e.Worker][queue].Observe(e.Queued.Seconds())
	case c.output == 0:
		t.observeFirstToken(c, e)
	default:
		gap := (e.At - c.last).Seconds()
		t.frontend[itl].Observe(gap)
		t.engines[e.Worker][itl].Observe(gap)
	}
	c.last = e.At
	c.output += e.Tokens
	t.tokens += uint64(e.Tokens)
}

func (t *tally) observeFirstToken(c *call, e cluster.Event) {
	t.queued--
	t.frontend[ttft].Observe((e.At - c.sent).Seconds())
	t.frontend[input].Observe(float64(c.prompt))
	t.frontend[cached].Observe(float64(e.Cached))
	t.engines[e.Worker][ttft].Observe(e.AtWorker.Seconds())
	for _, rate := range t.hitRate.with() {
		rate.Observe(float64(e.Cached) / float64(c.prompt))
	}
}
