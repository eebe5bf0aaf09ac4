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

func TestTraceID(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	d, c := serve(t, quick)
	for _, test := range []struct{ header, want string }{
		{"", ""},
		{"00-" + id + "-00f067aa0ba902b7-01", id},
		{"00-00000000000000000000000000000000-00f067aa0ba902b7-01", id}, // invalid: the previous ID stays
		{"nonsense", id},
		{"00-" + strings.ToUpper(id) + "-00f067aa0ba902b7-01", id},
		{"01-" + strings.Repeat("a", 32) + "-00f067aa0ba902b7-01-future", strings.Repeat("a", 32)},
	} {
		parse(t, c.post(t, t.Context(), question+`}`, "Traceparent", test.header).Body)
		if got := d.Stats().TraceID; got != test.want {
			t.Errorf("after traceparent %q the trace ID is %q, want %q", test.header, got, test.want)
		}
	}
}
