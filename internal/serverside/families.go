package serverside

// role is what a family of metrics says of a deployment.
type role string

const (
	promptTokens role = "prompt tokens"
	cachedTokens role = "cached prompt tokens"
	cacheHits    role = "prefix cache hits"
	cacheQueries role = "prefix cache queries"
	hitRate      role = "prefix cache hit rate"
	hitRates     role = "prefix cache hit rate per request"
	waiting      role = "requests waiting"
	running      role = "requests running"
	kvUsage      role = "KV cache usage"
	drafted      role = "tokens drafted"
	accepted     role = "drafted tokens accepted"
	acceptance   role = "acceptance rate"
	// acceptedLength counts the tokens of a step, the one that is not drafted
	// included.
	acceptedLength role = "tokens accepted at once"
	outputTokens   role = "output tokens"
	ttft           role = "time to first token"
	itl            role = "inter-token latency"
	configuration  role = "configuration"
)

// reading says which number of a family's series counts.
type reading uint8

const (
	// counts adds up the series of a counter.
	counts reading = iota
	// sums adds up the sums of a histogram.
	sums
	// level adds up the series of a gauge.
	level
	// share is the mean of the series of a gauge of 0 … 1.
	share
	// mean is the mean of a histogram: the growth of its sum over that of its
	// count.
	mean
	// histogram keeps the buckets, added up over the series.
	histogram
	// labelled keeps the labels, or the value where there is no telling label.
	labelled
)

// family is one name that a server may expose.
type family struct {
	name string
	role role
	read reading
}

// engine is the kind of server that a family belongs to.
type engine struct {
	name     string
	families []family
}

// engines lists the families that are looked for. Of several families of one
// role the first that is there counts. vLLM's prefix hits were counted several
// times on retries for a while, so cached tokens come first.
func engines() []engine {
	return []engine{
		{"vLLM", prefixed("vllm:",
			family{"prompt_tokens_total", promptTokens, counts},
			family{"prompt_tokens_cached_total", cachedTokens, counts},
			family{"prefix_cache_hits_total", cacheHits, counts},
			family{"prefix_cache_queries_total", cacheQueries, counts},
			family{"num_requests_waiting", waiting, level},
			family{"num_requests_running", running, level},
			family{"kv_cache_usage_perc", kvUsage, share},
			family{"spec_decode_num_draft_tokens_total", drafted, counts},
			family{"spec_decode_num_accepted_tokens_total", accepted, counts},
			family{"generation_tokens_total", outputTokens, counts},
			family{"time_to_first_token_seconds", ttft, histogram},
			family{"inter_token_latency_seconds", itl, histogram},
			family{"cache_config_info", configuration, labelled},
		)},
		{"SGLang", prefixed("sglang:",
			family{"prompt_tokens_total", promptTokens, counts},
			family{"cached_tokens_total", cachedTokens, counts},
			family{"cache_hit_rate", hitRate, share},
			family{"num_queue_reqs", waiting, level},
			family{"num_running_reqs", running, level},
			family{"token_usage", kvUsage, share},
			family{"spec_accept_rate", acceptance, share},
			family{"spec_accept_length", acceptedLength, level},
			family{"generation_tokens_total", outputTokens, counts},
			family{"time_to_first_token_seconds", ttft, histogram},
			family{"inter_token_latency_seconds", itl, histogram},
			family{"page_size", configuration, labelled},
			family{"num_pages", configuration, labelled},
		)},
		{"TensorRT-LLM", prefixed("trtllm_",
			family{"prompt_tokens_total", promptTokens, counts},
			family{"prompt_cached_tokens_total", cachedTokens, counts},
			family{"kv_cache_hit_rate", hitRate, share},
			family{"num_requests_waiting", waiting, level},
			family{"num_requests_running", running, level},
			family{"kv_cache_utilization", kvUsage, share},
			family{"spec_decode_num_draft_tokens_total", drafted, counts},
			family{"spec_decode_num_accepted_tokens_total", accepted, counts},
			family{"generation_tokens_total", outputTokens, counts},
			family{"time_to_first_token_seconds", ttft, histogram},
			family{"time_per_output_token_seconds", itl, histogram},
			family{"kv_cache_config_info", configuration, labelled},
			family{"kv_cache_max_blocks", configuration, labelled},
		)},
		{"Dynamo frontend", prefixed("dynamo_frontend_",
			family{"input_sequence_tokens", promptTokens, sums},
			family{"cached_tokens", cachedTokens, sums},
			family{"queued_requests", waiting, level},
			family{"router_queue_pending_requests", waiting, level},
			family{"inflight_requests", running, level},
			family{"active_requests", running, level},
			family{"output_tokens_total", outputTokens, counts},
			family{"output_sequence_tokens", outputTokens, sums},
			family{"time_to_first_token_seconds", ttft, histogram},
			family{"inter_token_latency_seconds", itl, histogram},
			family{"model_total_kv_blocks", configuration, labelled},
			family{"model_kv_cache_block_size", configuration, labelled},
		)},
		{"Dynamo worker", prefixed("dynamo_component_",
			family{"router_kv_hit_rate", hitRates, mean},
			family{"gpu_cache_usage_percent", kvUsage, share},
		)},
	}
}

func prefixed(prefix string, families ...family) []family {
	for i := range families {
		families[i].name = prefix + families[i].name
	}
	return families
}
