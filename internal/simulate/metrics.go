package simulate

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// engineID is the value of the engine label where there is one engine.
const engineID = "0"

// collect collects the metrics with the names of vLLM and, with a cluster, of Dynamo.
func (d *Deployment) collect(out chan<- prometheus.Metric) {
	o, driver := d.current()
	if driver != nil {
		driver.collect(out, o)
		return
	}
	d.latency.collect(out)
	s := d.Stats()
	p := vllmMetrics(out, o.Model, engineID)
	kvUse := 0.0
	if o.CacheBlocks > 0 {
		kvUse = min(1, float64(s.held)/float64(o.CacheBlocks*blockTokens))
	}
	p.engine(s.Running, s.Waiting, kvUse)
	p.tokens(uint64(s.PromptTokens), uint64(s.CachedTokens), uint64(s.OutputTokens))
	p.finished(s.Finished)
}

// exposition collects metrics with a common prefix and common labels.
type exposition struct {
	out    chan<- prometheus.Metric
	prefix string
	labels []string // names and values, alternating
}

func (p exposition) emit(kind prometheus.ValueType, name, help string, v float64, labels ...string) {
	var names, values []string
	for pair := range slices.Chunk(slices.Concat(p.labels, labels), 2) {
		names, values = append(names, pair[0]), append(values, pair[1])
	}
	p.out <- prometheus.MustNewConstMetric(prometheus.NewDesc(p.prefix+name, help, names, nil), kind, v, values...)
}

func (p exposition) gauge(name, help string, v float64, labels ...string) {
	p.emit(prometheus.GaugeValue, name, help, v, labels...)
}

func (p exposition) counter(name, help string, v uint64, labels ...string) {
	p.emit(prometheus.CounterValue, name, help, float64(v), labels...)
}

// vllmMetrics returns the exposition of one engine with vLLM's names.
func vllmMetrics(out chan<- prometheus.Metric, model, engine string) exposition {
	return exposition{out, "vllm:", []string{"model_name", model, "engine", engine}}
}

// engine collects the queue and the KV memory of an engine.
func (p exposition) engine(running, waiting int, kvUse float64) {
	p.gauge("num_requests_running", "Requests in the batch.", float64(running))
	p.gauge("num_requests_waiting", "Requests that wait for a place in the batch.", float64(waiting))
	p.gauge("kv_cache_usage_perc", "Share of the KV cache that running requests hold, from 0 to 1.", kvUse)
}

func (p exposition) tokens(prompt, cached, output uint64) {
	p.counter("prompt_tokens_total", "Prompt tokens processed.", prompt)
	p.counter("prompt_tokens_cached_total", "Prompt tokens taken from the prefix cache.", cached)
	p.counter("prefix_cache_queries_total", "Tokens looked up in the prefix cache.", prompt)
	p.counter("prefix_cache_hits_total", "Tokens found in the prefix cache.", cached)
	p.counter("generation_tokens_total", "Tokens generated.", output)
}

func (p exposition) finished(count map[string]int) {
	for _, reason := range []string{"stop", "length", "abort", "error"} {
		p.counter("request_success_total", "Requests that ended, by reason.", uint64(count[reason]), "finished_reason", reason)
	}
}

// collect collects the metrics of a cluster.
func (d *driver) collect(out chan<- prometheus.Metric, o Options) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.catchUp()
	for _, h := range []histograms{d.tally.vllm, d.tally.dynamo, d.tally.hitRate} {
		h.collect(out)
	}
	for id := range d.config.Workers {
		d.collectWorker(out, o.Model, id)
	}
	d.collectFrontend(exposition{out, "dynamo_frontend_", []string{"model", o.Model}}, o.MaxModelLen)
}

// collectWorker collects the metrics of an engine and of its Dynamo worker.
func (d *driver) collectWorker(out chan<- prometheus.Metric, model string, id int) {
	s, engine := d.cluster.Worker(id), strconv.Itoa(id)
	use := float64(s.KVUsed) / float64(s.KVBlocks)
	p := vllmMetrics(out, model, engine)
	p.engine(s.Running, s.Waiting, use)
	p.tokens(s.PromptTokens, s.CachedTokens, s.OutputTokens)
	p.counter("num_preemptions_total", "Sequences that lost their KV memory to another sequence.", s.Preemptions)
	if d.config.Engine.Speculation.Draft > 0 {
		p.counter("spec_decode_num_drafts_total", "Drafts of one sequence in one step.", s.Drafts)
		p.counter("spec_decode_num_draft_tokens_total", "Tokens drafted.", s.DraftTokens)
		p.counter("spec_decode_num_accepted_tokens_total", "Drafted tokens accepted.", s.AcceptedTokens)
	}
	p.finished(d.tally.engines[id].finished)
	p.labels = []string{"engine", engine}
	p.gauge("cache_config_info", "Configuration of the KV cache.", 1, "block_size", strconv.Itoa(d.config.Engine.BlockTokens),
		"enable_prefix_caching", "True", "num_gpu_blocks", strconv.Itoa(s.KVBlocks))
	p = exposition{out, "dynamo_", []string{"worker_id", engine}}
	p.gauge("frontend_worker_active_decode_blocks", "KV blocks that sequences hold.", float64(s.KVUsed))
	p.gauge("component_gpu_cache_usage_percent", "Share of the KV blocks that sequences hold, from 0 to 1.", use)
}

// collectFrontend collects the metrics of Dynamo's frontend. context is the length of the context.
func (d *driver) collectFrontend(p exposition, context int) {
	t := d.tally
	p.gauge("inflight_requests", "Requests that have not ended.", float64(d.cluster.InFlight()))
	p.gauge("queued_requests", "Requests without a first token.", float64(t.queued))
	p.counter("output_tokens_total", "Tokens of all answers.", t.tokens)
	failed := t.ended[cluster.Unavailable] + t.ended[cluster.Expired] + t.ended[cluster.Failed]
	for status, n := range map[string]uint64{"success": t.ended[cluster.Done], "error": failed} {
		p.counter("requests_total", "Requests that ended.", n, "endpoint", "chat_completions", "request_type", "stream", "status", status)
	}
	e := d.config.Engine
	p.gauge("model_total_kv_blocks", "KV blocks of a worker.", float64(d.cluster.Worker(0).KVBlocks))
	p.gauge("model_kv_cache_block_size", "Tokens of a KV block.", float64(e.BlockTokens))
	p.gauge("model_max_num_seqs", "Maximum of sequences in the batch of a worker.", float64(e.MaxSeqs))
	p.gauge("model_max_num_batched_tokens", "Maximum of tokens computed in a step.", float64(e.MaxBatchedTokens))
	p.gauge("model_context_length", "Maximum of tokens of a prompt and its answer.", float64(context))
}
