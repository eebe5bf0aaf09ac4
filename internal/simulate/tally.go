package simulate

import (
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// histograms are the histograms of one server.
type histograms []*prometheus.HistogramVec

// Indexes of histograms. vLLM and Dynamo share the first three.
const (
	ttft, itl, e2e        = 0, 1, 2
	tpot                  = 3       // vLLM
	input, output, cached = 3, 4, 5 // Dynamo
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
	whole := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	const model, engine = "model_name", "engine"
	return histograms{
		ttft: histogram("vllm:time_to_first_token_seconds", "Time from arrival to the first token.", first, model, engine),
		itl:  histogram("vllm:inter_token_latency_seconds", "Time between two token events of an answer.", perToken, model, engine),
		e2e:  histogram("vllm:e2e_request_latency_seconds", "Time from arrival to the end of the answer.", whole, model, engine),
		tpot: histogram("vllm:request_time_per_output_token_seconds", "Mean time per token of an answer after its first token.", perToken, model, engine),
	}
}

// dynamoHistograms returns histograms with the names and buckets of Dynamo's frontend.
func dynamoHistograms() histograms {
	prompts := logBuckets(50, 128000, 12)
	const prefix, model = "dynamo_frontend_", "model"
	return histograms{
		ttft:   histogram(prefix+"time_to_first_token_seconds", "Time from arrival at the frontend to the first token.", logBuckets(.001, 480, 18), model),
		itl:    histogram(prefix+"inter_token_latency_seconds", "Time between two token events of an answer.", logBuckets(.001, 2, 13), model),
		e2e:    histogram(prefix+"request_duration_seconds", "Time from arrival at the frontend to the end.", logBuckets(1, 256, 10), model),
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
	engines      []engineTally

	frontend []prometheus.Observer
	queued   int // requests without a first token
	tokens   uint64
	ended    map[cluster.Kind]uint64
}

// engineTally counts what one worker does.
type engineTally struct {
	latency  []prometheus.Observer
	finished map[string]int
}

func newTally(config cluster.Config, model string) *tally {
	t := &tally{vllm: vllmHistograms(), dynamo: dynamoHistograms(), ended: map[cluster.Kind]uint64{}}
	if config.Policy == cluster.KVAware {
		t.hitRate = histograms{histogram("dynamo_component_router_kv_hit_rate",
			"Share of a prompt that was cached on the worker it was routed to.", prometheus.LinearBuckets(0, .05, 21))}
		t.hitRate.with() // creates the series before the first request
	}
	for id := range config.Workers {
		t.engines = append(t.engines, engineTally{t.vllm.with(model, strconv.Itoa(id)), map[string]int{}})
	}
	t.frontend = t.dynamo.with(model)
	return t
}

// observe counts an event. The histograms of engines exclude the delays of frontend and network.
func (t *tally) observe(c *call, e cluster.Event) {
	if e.Kind == cluster.Tokens {
		t.observeTokens(c, e)
		return
	}
	t.ended[e.Kind]++
	if c.output == 0 {
		t.queued--
	} else {
		t.frontend[output].Observe(float64(c.output))
	}
	t.frontend[e2e].Observe((e.At - c.sent).Seconds())
	if e.Worker >= 0 {
		t.engines[e.Worker].observeEnd(c, e)
	}
}

func (t *tally) observeTokens(c *call, e cluster.Event) {
	engine := &t.engines[e.Worker]
	if c.output == 0 {
		t.queued--
		t.frontend[ttft].Observe((e.At - c.sent).Seconds())
		t.frontend[input].Observe(float64(c.prompt))
		t.frontend[cached].Observe(float64(e.Cached))
		engine.latency[ttft].Observe(e.AtWorker.Seconds())
		for _, rate := range t.hitRate.with() {
			rate.Observe(float64(e.Cached) / float64(c.prompt))
		}
		c.first, c.firstEventTokens = e.At, e.Tokens
	} else {
		gap := (e.At - c.last).Seconds()
		t.frontend[itl].Observe(gap)
		engine.latency[itl].Observe(gap)
	}
	c.last = e.At
	c.output += e.Tokens
	t.tokens += uint64(e.Tokens)
}

func (w *engineTally) observeEnd(c *call, e cluster.Event) {
	switch e.Kind {
	case cluster.Done:
		w.finished[c.finish]++
		w.latency[e2e].Observe(e.AtWorker.Seconds())
		if later := c.output - c.firstEventTokens; later > 0 {
			w.latency[tpot].Observe((c.last - c.first).Seconds() / float64(later))
		}
	case cluster.Expired, cluster.Canceled:
		w.finished["abort"]++
	default:
		w.finished["error"]++
	}
}
