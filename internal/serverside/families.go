package serverside

import (
	"slices"
	"strings"
)

// role is the meaning of a family of metrics.
type role uint8

const (
	promptTokens role = iota
	cachedTokens
	cacheHits    // of the prefix cache, in tokens
	cacheQueries // of the prefix cache, in tokens
	hitRate      // of the prefix cache
	hitRates     // sum of the hit rates of hitRequests requests
	hitRequests
	waiting     // requests in the queues of engines
	unanswered  // requests without a first token: in a queue or in their prefill
	routerQueue // requests that a frontend or router holds back from the engines
	running     // requests
	kvUsage
	kvFullest // the largest kvUsage of an engine
	preemptions
	drafted // speculative tokens
	accepted
	acceptance // share of accepted draft tokens
	outputTokens
	progress // tokens or steps
	ttft
	itl
	gpuUse
	gpuPower  // in watts
	gpuEnergy // in millijoules
	configuration
)

// reading selects the number to read from a family's series.
type reading uint8

const (
	// total adds up the series of a counter or a gauge.
	total reading = iota
	// sums adds up the sums of a histogram.
	sums
	// live is total for a counter that grows while requests run. The others grow when a request
	// ends. It also records progress, by engine.
	live
	// share is the mean of the series of a gauge from 0 to 1.
	share
	// percent is the mean of the series of a gauge from 0 to 100.
	percent
	// sumsAndCounts adds up sums and counts of a histogram. The counts have the next role.
	sumsAndCounts
	// histogram keeps the sum and the buckets, added up over the series.
	histogram
	// labelled keeps the labels, or the value if no label is informative.
	labelled
)

// engine is a kind of server with the prefix of its families.
type engine struct {
	name, prefix string
	// front is true for frontends and routers, which repeat figures of the engines behind them.
	front bool
}

func engines() []engine {
	return []engine{
		{"vLLM", "vllm:", false}, {"SGLang", "sglang:", false}, {"TensorRT-LLM", "trtllm_", false}, {"llama.cpp", "llamacpp:", false},
		{"Dynamo frontend", "dynamo_frontend_", true}, {"Dynamo worker", "dynamo_component_", false},
		{"llm-d router", "llm_d_epp_", true}, {"Gateway API inference extension", "inference_", true},
	}
}

type family struct {
	name string
	role role
	read reading
}

// front is true for families of frontends and routers.
func (f family) front() bool {
	return slices.ContainsFunc(engines(), func(e engine) bool { return e.front && strings.HasPrefix(f.name, e.prefix) })
}

// families lists the known families. If several have one role, the first that exists counts. Some versions of vLLM
// counted prefix hits again on each retry, so cached tokens come first. SGLang's num_retracted_reqs and TensorRT-LLM's
// num_paused_requests are gauges of one step, so they do not count preemptions.
func families() []family {
	var all []family
	for _, f := range []struct {
		role  role
		read  reading
		names string
	}{
		{promptTokens, total, "vllm:prompt_tokens_total sglang:prompt_tokens_total trtllm_prompt_tokens_total llamacpp:prompt_tokens_total"},
		{promptTokens, sums, "dynamo_frontend_input_sequence_tokens llm_d_epp_request_input_tokens inference_objective_input_tokens"},
		{cachedTokens, total, "vllm:prompt_tokens_cached_total sglang:cached_tokens_total trtllm_prompt_cached_tokens_total"},
		{cachedTokens, sums, "dynamo_frontend_cached_tokens llm_d_epp_request_cached_tokens inference_objective_prompt_cached_tokens"},
		{cacheHits, total, "vllm:prefix_cache_hits_total"},
		{cacheQueries, total, "vllm:prefix_cache_queries_total"},
		{hitRate, share, "sglang:cache_hit_rate trtllm_kv_cache_hit_rate"},
		{hitRates, sumsAndCounts, "dynamo_component_router_kv_hit_rate"},
		{waiting, total, "vllm:num_requests_waiting sglang:num_queue_reqs trtllm_num_requests_waiting llamacpp:requests_deferred"},
		{waiting, total, "llm_d_epp_per_endpoint_queue_size inference_pool_per_pod_queue_size"},
		{routerQueue, total, "dynamo_frontend_router_queue_pending_requests"},
		{routerQueue, total, "llm_d_epp_flow_control_queue_size inference_extension_flow_control_queue_size"},
		{unanswered, total, "dynamo_frontend_queued_requests"},
		{running, total, "vllm:num_requests_running sglang:num_running_reqs trtllm_num_requests_running llamacpp:requests_processing"},
		{running, total, "dynamo_frontend_inflight_requests dynamo_frontend_active_requests"},
		{running, total, "llm_d_epp_request_running inference_objective_running_requests"},
		{kvUsage, share, "vllm:kv_cache_usage_perc vllm:gpu_cache_usage_perc sglang:token_usage trtllm_kv_cache_utilization llamacpp:kv_cache_usage_ratio"},
		{kvUsage, share, "dynamo_component_gpu_cache_usage_percent llm_d_epp_average_kv_cache_utilization inference_pool_average_kv_cache_utilization"},
		{preemptions, total, "vllm:num_preemptions_total sglang:num_retracted_requests_total"},
		{drafted, total, "vllm:spec_decode_num_draft_tokens_total trtllm_spec_decode_num_draft_tokens_total llamacpp:spec_decode_num_draft_tokens_total"},
		{accepted, total, "vllm:spec_decode_num_accepted_tokens_total trtllm_spec_decode_num_accepted_tokens_total llamacpp:spec_decode_num_accepted_tokens_total"},
		{acceptance, share, "sglang:spec_accept_rate"},
		{outputTokens, live, "vllm:generation_tokens_total"},
		{outputTokens, total, "sglang:generation_tokens_total trtllm_generation_tokens_total llamacpp:tokens_predicted_total"},
		{outputTokens, live, "dynamo_frontend_output_tokens_total"},
		{outputTokens, sums, "dynamo_frontend_output_sequence_tokens llm_d_epp_request_output_tokens inference_objective_output_tokens"},
		{progress, live, "sglang:realtime_tokens_total llamacpp:n_decode_total"},
		{ttft, histogram, "vllm:time_to_first_token_seconds sglang:time_to_first_token_seconds"},
		{ttft, histogram, "trtllm_time_to_first_token_seconds dynamo_frontend_time_to_first_token_seconds"},
		{itl, histogram, "vllm:inter_token_latency_seconds sglang:inter_token_latency_seconds"},
		{itl, histogram, "trtllm_time_per_output_token_seconds dynamo_frontend_inter_token_latency_seconds"},
		{gpuUse, percent, "DCGM_FI_DEV_GPU_UTIL"},
		{gpuPower, total, "DCGM_FI_DEV_POWER_USAGE"},
		{gpuEnergy, total, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"},
		{configuration, labelled, "vllm:cache_config_info sglang:page_size sglang:num_pages"},
		{configuration, labelled, "trtllm_kv_cache_config_info trtllm_kv_cache_max_blocks"},
		{configuration, labelled, "dynamo_frontend_model_total_kv_blocks dynamo_frontend_model_kv_cache_block_size"},
	} {
		for name := range strings.FieldsSeq(f.names) {
			all = append(all, family{name, f.role, f.read})
		}
	}
	return all
}
