package simulate

import (
	"math"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/simulate/cluster"
)

// dynamoHistograms have the names and buckets of Dynamo's frontend.
type dynamoHistograms struct {
	ttft, itl, e2e, input, output, cached *prometheus.HistogramVec
	hitRate                               prometheus.Histogram
}

func newDynamoHistograms() dynamoHistograms {
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "dynamo_frontend_" + name, Help: help, Buckets: buckets}, []string{"model"})
	}
	prompts := logBuckets(50, 128000, 12)
	return dynamoHistograms{
		ttft:   histogram("time_to_first_token_seconds", "Time from arrival at the frontend to the first token.", logBuckets(.001, 480, 18)),
		itl:    histogram("inter_token_latency_seconds", "Time between two token events of an answer.", logBuckets(.001, 2, 13)),
		e2e:    histogram("request_duration_seconds", "Time from arrival at the frontend to the end.", logBuckets(1, 256, 10)),
		input:  histogram("input_sequence_tokens", "Tokens of a prompt.", prompts),
		output: histogram("output_sequence_tokens", "Tokens of an answer.", logBuckets(50, 32000, 10)),
		cached: histogram("cached_tokens", "Tokens of a prompt that were cached.", prompts),
		hitRate: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "dynamo_component_router_kv_hit_rate", Help: "Share of a prompt that was cached where it was routed to.",
			Buckets: prometheus.LinearBuckets(0, .05, 21),
		}),
	}
}

// logBuckets are n bounds from low to high at equal ratios, rounded to two
// significant digits.
func logBuckets(low, high float64, n int) []float64 {
	var all []float64
	for i := range n {
		v := low * math.Pow(high/low, float64(i)/float64(n-1))
		unit := math.Pow(10, math.Floor(math.Log10(v))-1)
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(math.Round(v/unit)*unit, 'g', 6, 64), 64)
		if err == nil { // always: FormatFloat wrote it
			all = append(all, rounded)
		}
	}
	return all
}

// dynamoPage writes a cluster's state under the names of Dynamo's frontend.
type dynamoPage struct {
	out   chan<- prometheus.Metric
	model string
}

func (p dynamoPage) emit(kind prometheus.ValueType, name, help string, v float64, labels ...string) {
	emit(p.out, kind, "dynamo_frontend_"+name, help, v, append([]string{"model", p.model}, labels...)...)
}

// front writes what the frontend knows of its requests.
func (p dynamoPage) front(f *frontendTally) {
	p.emit(prometheus.GaugeValue, "inflight_requests", "Requests that have not ended.", float64(f.inFlight))
	p.emit(prometheus.GaugeValue, "queued_requests", "Requests without a first token.", float64(f.queued))
	p.emit(prometheus.CounterValue, "output_tokens_total", "Tokens of all answers.", float64(f.tokens))
	failed := f.ended[cluster.Refused] + f.ended[cluster.Unavailable] + f.ended[cluster.Expired] + f.ended[cluster.Failed]
	for status, n := range map[string]uint64{"success": f.ended[cluster.Done], "error": failed} {
		p.emit(prometheus.CounterValue, "requests_total", "Requests that ended.", float64(n),
			"endpoint", "chat_completions", "request_type", "stream", "status", status)
	}
}

// engine writes a worker's configuration, which is that of all.
func (p dynamoPage) engine(e cluster.Engine, blocks, context int) {
	gauge := func(name, help string, v int) { p.emit(prometheus.GaugeValue, name, help, float64(v)) }
	gauge("model_total_kv_blocks", "KV blocks of a worker.", blocks)
	gauge("model_kv_cache_block_size", "Tokens of a KV block.", e.BlockTokens)
	gauge("model_max_num_seqs", "Sequences in a worker's batch at most.", e.MaxSeqs)
	gauge("model_max_num_batched_tokens", "Tokens computed in a step at most.", e.MaxBatchedTokens)
	gauge("model_context_length", "Tokens of prompt and answer at most.", context)
}

// worker writes how much of its KV memory a worker uses.
func (p dynamoPage) worker(id int, used, blocks int) {
	worker := strconv.Itoa(id)
	emit(p.out, prometheus.GaugeValue, "dynamo_frontend_worker_active_decode_blocks", "KV blocks that sequences hold.",
		float64(used), "worker_id", worker)
	emit(p.out, prometheus.GaugeValue, "dynamo_component_gpu_cache_usage_percent", "Share of the KV blocks that sequences hold; 1 is all of them.",
		float64(used)/float64(blocks), "worker_id", worker)
}
