package simulate

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// engineID is the value of the engine label where there is one engine.
const engineID = "0"

// vllmHistograms have vLLM's own buckets, coarse as they are: what reads them
// should meet the same resolution here.
type vllmHistograms struct{ ttft, itl, tpot, e2e *prometheus.HistogramVec }

func newVLLMHistograms() vllmHistograms {
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"model_name", "engine"})
	}
	perToken := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	return vllmHistograms{
		ttft: histogram("vllm:time_to_first_token_seconds", "Time from arrival to the first token.",
			.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		itl: histogram("vllm:inter_token_latency_seconds", "Time between two token events of an answer.", perToken...),
		tpot: histogram("vllm:request_time_per_output_token_seconds",
			"Time per token of a whole answer after its first.", perToken...),
		e2e: histogram("vllm:e2e_request_latency_seconds", "Time from arrival to the end of the answer.",
			.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680),
	}
}

// vllmPage writes one engine's state under vLLM's names.
type vllmPage struct {
	out           chan<- prometheus.Metric
	model, engine string
}

func (p vllmPage) emit(kind prometheus.ValueType, name, help string, v float64, labels ...string) {
	emit(p.out, kind, "vllm:"+name, help, v, append(labels, "model_name", p.model, "engine", p.engine)...)
}

func (p vllmPage) gauge(name, help string, v float64) { p.emit(prometheus.GaugeValue, name, help, v) }

func (p vllmPage) counter(name, help string, v uint64) {
	p.emit(prometheus.CounterValue, name, help, float64(v))
}

// load writes the queue and the use of the KV memory.
func (p vllmPage) load(running, waiting int, kvUse float64) {
	p.gauge("num_requests_running", "Requests in the batch.", float64(running))
	p.gauge("num_requests_waiting", "Requests that wait for a place in the batch.", float64(waiting))
	p.gauge("kv_cache_usage_perc", "Share of the KV cache that running requests hold; 1 is all of it.", kvUse)
}

// tokens writes what was counted since the start.
func (p vllmPage) tokens(prompt, cached, output uint64) {
	p.counter("prompt_tokens_total", "Prompt tokens processed.", prompt)
	p.counter("prompt_tokens_cached_total", "Prompt tokens taken from the prefix cache.", cached)
	p.counter("prefix_cache_queries_total", "Tokens looked up in the prefix cache.", prompt)
	p.counter("prefix_cache_hits_total", "Tokens found in the prefix cache.", cached)
	p.counter("generation_tokens_total", "Tokens generated.", output)
}

// speculation writes what was drafted since the start.
func (p vllmPage) speculation(s cluster.WorkerStats) {
	p.counter("spec_decode_num_drafts_total", "Times that the drafter drafted for a sequence.", s.Drafts)
	p.counter("spec_decode_num_draft_tokens_total", "Tokens drafted.", s.DraftTokens)
	p.counter("spec_decode_num_accepted_tokens_total", "Drafted tokens accepted.", s.AcceptedTokens)
}

// finished writes how many requests ended for each reason.
func (p vllmPage) finished(count func(reason string) float64) {
	for _, reason := range []string{"stop", "length", "abort", "error"} {
		p.emit(prometheus.CounterValue, "request_success_total", "Requests that ended, by reason.", count(reason), "finished_reason", reason)
	}
}

// configuration writes that of the KV cache.
func (p vllmPage) configuration(blockTokens, blocks int) {
	emit(p.out, prometheus.GaugeValue, "vllm:cache_config_info", "Configuration of the KV cache.", 1, "block_size", strconv.Itoa(blockTokens),
		"enable_prefix_caching", "True", "engine", p.engine, "num_gpu_blocks", strconv.Itoa(blocks))
}
