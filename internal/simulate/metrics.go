package simulate

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// engineID is the value of the label engine of a deployment without a cluster.
const engineID = "0"

// collect collects the metrics that the prober reads, with the names of vLLM.
func (d *Deployment) collect(out chan<- prometheus.Metric) {
	o := d.current()
	if d.driver != nil {
		d.driver.collect(out, o.Model)
		return
	}
	d.latency.collect(out)
	s := d.Stats()
	vllmMetrics(out, o.Model, engineID).engine(cluster.WorkerStats{
		Running: s.Running, Waiting: s.Waiting,
		PromptTokens: uint64(s.PromptTokens), CachedTokens: uint64(s.CachedTokens), OutputTokens: uint64(s.OutputTokens),
	}, s.kvUse())
}

// kvUse returns the share of the KV cache that running requests hold, without a cluster.
func (s Stats) kvUse() float64 { return min(1, float64(s.held)/(cacheBlocks*blockTokens)) }

// exposition collects metrics with vLLM's names and common labels.
type exposition struct {
	out    chan<- prometheus.Metric
	labels prometheus.Labels
}

func (p exposition) emit(kind prometheus.ValueType, name, help string, v float64) {
	desc := prometheus.NewDesc("vllm:"+name, help, nil, p.labels)
	p.out <- prometheus.MustNewConstMetric(desc, kind, v)
}

func (p exposition) gauge(name, help string, v float64) { p.emit(prometheus.GaugeValue, name, help, v) }

func (p exposition) counter(name, help string, v uint64) {
	p.emit(prometheus.CounterValue, name, help, float64(v))
}

// vllmMetrics returns the exposition of one engine.
func vllmMetrics(out chan<- prometheus.Metric, model, engine string) exposition {
	return exposition{out, prometheus.Labels{"model_name": model, "engine": engine}}
}

func (p exposition) engine(s cluster.WorkerStats, kvUse float64) {
	p.gauge("num_requests_running", "Requests in the batch.", float64(s.Running))
	p.gauge("num_requests_waiting", "Requests that wait for a place in the batch.", float64(s.Waiting))
	p.gauge("kv_cache_usage_perc", "Share of the KV cache that running requests hold, from 0 to 1.", kvUse)
	p.counter("prompt_tokens_total", "Prompt tokens processed.", s.PromptTokens)
	p.counter("prompt_tokens_cached_total", "Prompt tokens taken from the prefix cache.", s.CachedTokens)
	p.counter("prefix_cache_queries_total", "Tokens looked up in the prefix cache.", s.PromptTokens)
	p.counter("prefix_cache_hits_total", "Tokens found in the prefix cache.", s.CachedTokens)
	p.counter("generation_tokens_total", "Tokens generated.", s.OutputTokens)
}

func (d *driver) collect(out chan<- prometheus.Metric, model string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	d.latency.collect(out)
	for id := range d.config.Workers {
		d.collectWorker(vllmMetrics(out, model, strconv.Itoa(id)), d.cluster.Worker(id))
	}
}

func (d *driver) collectWorker(p exposition, s cluster.WorkerStats) {
	p.engine(s, float64(s.KVUsed)/float64(s.KVBlocks))
	p.counter("num_preemptions_total", "Sequences that lost their KV memory to another sequence.", s.Preemptions)
	if d.config.Engine.Speculation.Draft > 0 {
		p.counter("spec_decode_num_draft_tokens_total", "Tokens drafted.", s.DraftTokens)
		p.counter("spec_decode_num_accepted_tokens_total", "Drafted tokens accepted.", s.AcceptedTokens)
	}
	p.labels = prometheus.Labels{
		"engine": p.labels["engine"], "block_size": strconv.Itoa(d.config.Engine.BlockTokens), "enable_prefix_caching": "True",
		"num_gpu_blocks": strconv.Itoa(s.KVBlocks),
	}
	p.gauge("cache_config_info", "Configuration of the KV cache.", 1)
}

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
