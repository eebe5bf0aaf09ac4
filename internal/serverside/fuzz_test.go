package serverside

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// FuzzPages checks that all figures from arbitrary pages are finite, because a run with other numbers cannot be saved.
func FuzzPages(f *testing.F) {
	f.Add([]byte("vllm:prompt_tokens_total 1\nsglang:cache_hit_rate NaN\nvllm:kv_cache_usage_perc +Inf\n"), []byte("vllm:prompt_tokens_total 1e308\nsglang:cache_hit_rate 5\n"))
	f.Add([]byte("# TYPE vllm:time_to_first_token_seconds histogram\nvllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 3\nvllm:time_to_first_token_seconds_sum NaN\nvllm:time_to_first_token_seconds_count 3\nvllm:generation_tokens_total -Inf\n"),
		[]byte("# TYPE vllm:time_to_first_token_seconds histogram\nvllm:time_to_first_token_seconds_bucket{le=\"NaN\"} 3\nvllm:time_to_first_token_seconds_bucket{le=\"-Inf\"} 9\nvllm:generation_tokens_total +Inf\n"))
	f.Add([]byte("vllm:spec_decode_num_draft_tokens_total 5e-324\nvllm:spec_decode_num_accepted_tokens_total 0\n"), []byte("vllm:spec_decode_num_draft_tokens_total 1e-323\nvllm:spec_decode_num_accepted_tokens_total 1e308\n"))
	start := time.Unix(1e9, 0)
	f.Fuzz(func(t *testing.T, first, last []byte) {
		var samples []Sample
		for i, page := range [][]byte{first, last} {
			found, err := readPage(t.Context(), bytes.NewReader(page))
			if err != nil {
				return
			}
			s := newSample(found)
			s.At = start.Add(time.Duration(i) * time.Minute)
			samples = append(samples, s)
		}
		if _, err := json.Marshal(Summarise("http://x/metrics", samples)); err != nil {
			t.Errorf("cannot be written: %v", err)
		}
	})
}
