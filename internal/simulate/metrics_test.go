package simulate

import (
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	d, c := serve(t, quick)
	c.say(t, []message{user(strings.Repeat("word", 25))}, "") // 32 prompt tokens
	c.say(t, []message{user(strings.Repeat("word", 25))}, `,"max_tokens":4`)
	_, page := c.get(t, "/metrics")
	const labels = `{engine="0",model_name="simulated-chat"}`
	for _, want := range []string{
		"vllm:time_to_first_token_seconds_count" + labels + " 2",
		"vllm:inter_token_latency_seconds_count" + labels + " 10",
		"vllm:num_requests_running" + labels + " 0",
		"vllm:num_requests_waiting" + labels + " 0",
		"vllm:prompt_tokens_total" + labels + " 64",
		"vllm:prompt_tokens_cached_total" + labels + " 16",
		"vllm:prefix_cache_queries_total" + labels + " 64",
		"vllm:prefix_cache_hits_total" + labels + " 16",
		"vllm:generation_tokens_total" + labels + " 12",
		"vllm:kv_cache_usage_perc" + labels + " 0",
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no line %q in\n%s", want, page)
		}
	}
	if finished := d.Stats().Finished; finished["stop"] != 1 || finished["length"] != 1 {
		t.Errorf("finished %v, want one stop and one length", finished)
	}
}
