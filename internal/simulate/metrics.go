package simulate

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// engineID is the value of the label engine of a deployment without a cluster.
const engineID = "0"

// collect collects the metrics that the prober reads, with the names of vLLM and, with a cluster, of
// Dynamo.
func (d *Deployment) collect(out chan<- prometheus.Metric) {
	o, driver := d.current()
	if driver != nil {
		driver.collect(out, o.Model)
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

// kvUse returns the share of a worker's KV cache that running requests hold.
func (d *driver) kvUse(worker int) float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return kvUseOf(d.cluster.Worker(worker))
}

func kvUseOf(s cluster.WorkerStats) float64 { return float64(s.KVUsed) / float64(s.KVBlocks) }

// exposition collects metrics with a common prefix and common labels.
type exposition struct {
	out    chan<- prometheus.Metric
	prefix string
	labels prometheus.Labels
}

func (p exposition) emit(kind prometheus.ValueType, name, help string, v float64) {
	desc := prometheus.NewDesc(p.prefix+name, help, nil, p.labels)
	p.out <- prometheus.MustNewConstMetric(desc, kind, v)
}

func (p exposition) gauge(name, help string, v float64) { p.emit(prometheus.GaugeValue, name, help, v) }

func (p exposition) counter(name, help string, v uint64) {
	p.emit(prometheus.CounterValue, name, help, float64(v))
}

// vllmMetrics returns the exposition of one engine with vLLM's names.
func vllmMetrics(out chan<- prometheus.Metric, model, engine string) exposition {
	return exposition{out, "vllm:", prometheus.Labels{"model_name": model, "engine": engine}}
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
	for _, h := range []histograms{d.tally.vllm, d.tally.dynamo, d.tally.hitRate} {
		h.collect(out)
	}
	for id := range d.config.Workers {
		d.collectWorker(vllmMetrics(out, model, strconv.Itoa(id)), d.cluster.Worker(id))
	}
	p := exposition{out, "dynamo_frontend_", prometheus.Labels{"model": model}}
	p.gauge("inflight_requests", "Requests that have not ended.", float64(d.cluster.InFlight()))
	p.gauge("queued_requests", "Requests without a first token.", float64(d.tally.queued))
	p.counter("output_tokens_total", "Tokens of all answers.", d.tally.tokens)
	p.gauge("model_total_kv_blocks", "KV blocks of a worker.", float64(d.cluster.Worker(0).KVBlocks))
	p.gauge("model_kv_cache_block_size", "Tokens of a KV block.", float64(d.config.Engine.BlockTokens))
}

func (d *driver) collectWorker(p exposition, s cluster.WorkerStats) {
	use := kvUseOf(s)
	p.engine(s, use)
	p.counter("num_preemptions_total", "Sequences that lost their KV memory to another sequence.", s.Preemptions)
	if d.config.Engine.Speculation.Draft > 0 {
		p.counter("spec_decode_num_draft_tokens_total", "Tokens drafted.", s.DraftTokens)
		p.counter("spec_decode_num_accepted_tokens_total", "Drafted tokens accepted.", s.AcceptedTokens)
	}
	engine := p.labels["engine"]
	p.labels = prometheus.Labels{
		"engine": engine, "block_size": strconv.Itoa(d.config.Engine.BlockTokens), "enable_prefix_caching": "True",
		"num_gpu_blocks": strconv.Itoa(s.KVBlocks),
	}
	p.gauge("cache_config_info", "Configuration of the KV cache.", 1)
	p = exposition{p.out, "dynamo_component_", prometheus.Labels{"worker_id": engine}}
	p.gauge("gpu_cache_usage_percent", "Share of the KV blocks that sequences hold, from 0 to 1.", use)
}
