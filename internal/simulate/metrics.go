package simulate

import "github.com/prometheus/client_golang/prometheus"

// collector gives a deployment's counts under vLLM's names.
type collector struct{ *Deployment }

// Describe implements prometheus.Collector. It describes nothing, for the
// label values follow the options: the collector is an unchecked one.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (d collector) Collect(out chan<- prometheus.Metric) {
	o := d.current()
	s := d.Stats()
	d.meter.ttft.Collect(out)
	d.meter.itl.Collect(out)
	d.meter.e2e.Collect(out)
	emit := func(kind prometheus.ValueType, name, help string, v int) {
		desc := prometheus.NewDesc(name, help, labels, nil)
		out <- prometheus.MustNewConstMetric(desc, kind, float64(v), o.Model, engineID)
	}
	emit(prometheus.GaugeValue, "vllm:num_requests_running", "Requests being answered.", s.Running)
	emit(prometheus.GaugeValue, "vllm:num_requests_waiting", "Requests that wait for the engine.", s.Waiting)
	emit(prometheus.CounterValue, "vllm:prompt_tokens_total", "Prompt tokens processed.", s.PromptTokens)
	emit(prometheus.CounterValue, "vllm:prompt_tokens_cached_total", "Prompt tokens taken from the prefix cache.", s.CachedTokens)
	emit(prometheus.CounterValue, "vllm:prefix_cache_queries_total", "Tokens looked up in the prefix cache.", s.PromptTokens)
	emit(prometheus.CounterValue, "vllm:prefix_cache_hits_total", "Tokens found in the prefix cache.", s.CachedTokens)
	emit(prometheus.CounterValue, "vllm:generation_tokens_total", "Tokens generated.", s.OutputTokens)

	use := prometheus.NewDesc("vllm:kv_cache_usage_perc", "Share of the KV cache that running requests hold; 1 is all of it.", labels, nil)
	out <- prometheus.MustNewConstMetric(use, prometheus.GaugeValue, d.meter.kvUse(o.CacheBlocks), o.Model, engineID)

	success := prometheus.NewDesc("vllm:request_success_total", "Requests that ended, by reason.", append([]string{"finished_reason"}, labels...), nil)
	for _, reason := range []string{"stop", "length", "abort", "error"} {
		out <- prometheus.MustNewConstMetric(success, prometheus.CounterValue, float64(s.Finished[reason]), reason, o.Model, engineID)
	}
}

// kvUse is the share of so many blocks that the running requests hold, at
// most 1.
func (m *meter) kvUse(blocks int) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if blocks <= 0 {
		return 0
	}
	return min(1, float64(m.held)/float64(blocks*blockTokens))
}
