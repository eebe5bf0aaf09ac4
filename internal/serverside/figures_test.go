package serverside

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// page parses an exposition that was read some seconds after the start.
func page(t *testing.T, seconds int, text string) Sample {
	t.Helper()
	found, err := readPage(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s := newSample(found)
	s.At = time.Unix(int64(seconds), 0)
	return s
}

// histogramText returns an exposed histogram. Each bucket is its bound and its count, such as "0.1 6". The
// bucket without a bound is added.
func histogramText(name, sum, count string, buckets ...string) string {
	text := "# TYPE " + name + " histogram\n"
	for _, b := range append(buckets, "+Inf "+count) {
		bound, n, _ := strings.Cut(b, " ")
		text += name + "_bucket{le=\"" + bound + "\"} " + n + "\n"
	}
	return text + name + "_sum " + sum + "\n" + name + "_count " + count + "\n"
}

func gaugeText(name, value string) string {
	return "# TYPE " + name + " gauge\n" + name + " " + value + "\n"
}

func TestSummarise(t *testing.T) {
	dynamo := func(input, cached, count, inflight, active string) string {
		return histogramText("dynamo_frontend_input_sequence_tokens", input, count) + histogramText("dynamo_frontend_cached_tokens", cached, count) +
			gaugeText("dynamo_frontend_inflight_requests", inflight) + gaugeText("dynamo_frontend_active_requests", active)
	}
	router := func(hits, count, usage string) string {
		return histogramText("dynamo_component_router_kv_hit_rate", hits, count) + gaugeText("dynamo_component_gpu_cache_usage_percent", usage)
	}
	for name, c := range map[string]struct {
		pages []string // 10 s apart
		want  map[string]float64
	}{
		"vLLM": {[]string{`
vllm:prompt_tokens_total{engine="0"} 1000
vllm:prompt_tokens_cached_total{engine="0"} 100
vllm:prefix_cache_hits_total 100
vllm:prefix_cache_queries_total 1000
vllm:generation_tokens_total{engine="0"} 500
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0"} 1
vllm:num_requests_waiting{engine="1"} 2
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.4
vllm:spec_decode_num_draft_tokens_total 10
vllm:spec_decode_num_accepted_tokens_total 1
`, `
vllm:prompt_tokens_total{engine="0"} 3000
vllm:prompt_tokens_cached_total{engine="0"} 1900
vllm:prefix_cache_hits_total 8000
vllm:prefix_cache_queries_total 9000
vllm:generation_tokens_total{engine="0"} 700
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0"} 5
vllm:num_requests_waiting{engine="1"} 0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:kv_cache_usage_perc{engine="1"} 0.7
vllm:spec_decode_num_draft_tokens_total 25192
vllm:spec_decode_num_accepted_tokens_total 3
`}, map[string]float64{
			KVHitRatio:      0.9, // not the hits, because retries count them again
			OutputPerSecond: 20, PromptPerSecond: 200,
			QueueMean: 4, QueueMax: 5,
			KVUsageMean: 0.45, KVUsageMax: 0.6,
			SpecDrafted: 25182, SpecAccepted: 2, SpecAcceptance: 2.0 / 25182,
		}},
		"DCGM": {[]string{`
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0"} 80
DCGM_FI_DEV_GPU_UTIL{gpu="1"} 100
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu="0"} 300.5
DCGM_FI_DEV_POWER_USAGE{gpu="1"} 310
# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0"} 1000000
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="1"} 2000000
`, `
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0"} 40
DCGM_FI_DEV_GPU_UTIL{gpu="1"} 100
# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0"} 4000000
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="1"} 5000000
`}, map[string]float64{GPUUse: 0.8, GPUPower: 600}},
		"DCGM without energy": {[]string{
			"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 300\nDCGM_FI_DEV_POWER_USAGE{gpu=\"1\"} 300\n",
			"DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 500\nDCGM_FI_DEV_POWER_USAGE{gpu=\"1\"} 300\n",
		}, map[string]float64{GPUPower: 700}},
		"SGLang": {[]string{`
# TYPE sglang:cache_hit_rate gauge
sglang:cache_hit_rate 0.5
# TYPE sglang:token_usage gauge
sglang:token_usage 0.25
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs 8
# TYPE sglang:spec_accept_rate gauge
sglang:spec_accept_rate 0.7
`, `
# TYPE sglang:cache_hit_rate gauge
sglang:cache_hit_rate 0.7
# TYPE sglang:token_usage gauge
sglang:token_usage 0.75
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs 4
# TYPE sglang:spec_accept_rate gauge
sglang:spec_accept_rate 0.9
`}, map[string]float64{
			KVHitRatio: 0.6, KVUsageMean: 0.5, KVUsageMax: 0.75,
			RunningMean: 6, RunningMax: 8, SpecAcceptance: 0.8,
		}},
		"Dynamo": {[]string{dynamo("100", "0", "1", "3", "30"), dynamo("300", "150", "2", "5", "50")}, map[string]float64{
			KVHitRatio: 0.75, PromptPerSecond: 20,
			RunningMean: 4, RunningMax: 5,
		}},
		"Dynamo's router and workers": {[]string{router("5", "10", "40"), router("13", "20", "60")}, map[string]float64{
			KVHitRatio: 0.8, KVUsageMean: 0.5, KVUsageMax: 0.6,
		}},
		"latencies": {[]string{
			histogramText("vllm:time_to_first_token_seconds", "0", "0", "0.1 0", "80 0") +
				histogramText("vllm:inter_token_latency_seconds", "1", "100", "0.01 100", "0.025 100"),
			histogramText("vllm:time_to_first_token_seconds", "600", "10", "0.1 0", "80 6") +
				histogramText("vllm:inter_token_latency_seconds", "8.9", "2100", "0.01 2090", "0.025 2100"),
		}, map[string]float64{
			TTFTMean: 60, TTFTP50: 0.1 + 79.9*5/6, TTFTP95 + Above: 80,
			ITLMean: 0.00395, ITLP50 + AtMost: 0.01, ITLP95 + AtMost: 0.01,
		}},
		"a restart in between": {[]string{
			"vllm:generation_tokens_total 500\n", "vllm:generation_tokens_total 20\n", "vllm:generation_tokens_total 900\n",
		}, map[string]float64{}},
		"a page that lacks it in between": {[]string{
			"vllm:generation_tokens_total 500\n", "vllm:prompt_tokens_total 1\n", "vllm:generation_tokens_total 900\n",
		}, map[string]float64{OutputPerSecond: 20}},
		"a restart": {[]string{
			"vllm:generation_tokens_total 500\nvllm:prompt_tokens_total 500\n",
			"vllm:generation_tokens_total 10\nvllm:prompt_tokens_total 600\n",
		}, map[string]float64{PromptPerSecond: 10}},
		"no prompts": {[]string{"vllm:prompt_tokens_total 5\nvllm:prompt_tokens_cached_total 5\n", "vllm:prompt_tokens_total 5\nvllm:prompt_tokens_cached_total 5\n"}, map[string]float64{PromptPerSecond: 0}},
		"no numbers": {[]string{
			"sglang:cache_hit_rate NaN\nsglang:token_usage +Inf\nsglang:generation_tokens_total 1\nsglang:num_queue_reqs 2\n",
			"sglang:cache_hit_rate 0.5\nsglang:token_usage 0.5\nsglang:generation_tokens_total NaN\nsglang:num_queue_reqs 2\n",
		}, map[string]float64{QueueMean: 2, QueueMax: 2}},
		"one page":    {[]string{"vllm:prompt_tokens_total 5\n"}, map[string]float64{}},
		"other names": {[]string{"up 1\n", "up 1\n"}, map[string]float64{}},
		"nothing":     {nil, map[string]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			var samples []Sample
			for i, text := range c.pages {
				samples = append(samples, page(t, 10*i, text))
			}
			got := Summarise("http://a/metrics", samples)
			if diff := cmp.Diff(c.want, got.Figures, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFamiliesAreStated checks that the result lists the known families that were found.
func TestFamiliesAreStated(t *testing.T) {
	s := page(t, 0, "up 1\nvllm:generation_tokens_total 1\n# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 1\n")
	got := Summarise("u", []Sample{s})
	if diff := cmp.Diff([]string{"vllm:generation_tokens_total", "vllm:num_requests_waiting"}, got.Families); diff != "" {
		t.Errorf("families (-want +got):\n%s", diff)
	}
}

// TestNamesAreKnownOnce checks that no name is listed twice.
func TestNamesAreKnownOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range families() {
		if seen[f.name] {
			t.Errorf("%s is listed twice", f.name)
		}
		seen[f.name] = true
	}
	if len(seen) < 70 {
		t.Errorf("%d names", len(seen))
	}
}

func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	before := []bucket{{1, 5}, {2, 5}, {4, 5}, {inf, 5}}
	after := []bucket{{1, 15}, {2, 25}, {4, 25}, {inf, 26}}
	in := grown(before, after) // 10 up to 1, 10 more up to 2, 1 beyond 4
	for _, c := range []struct {
		q, want float64
		suffix  string
	}{{0.25, 1, AtMost}, {0.5, 1.05, ""}, {0.9, 1.89, ""}, {0.99, 4, Above}} {
		suffix, got := quantile(c.q, in)
		if suffix != c.suffix || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("q%g: %q %g, want %q %g", c.q, suffix, got, c.suffix, c.want)
		}
	}
	if _, v := quantile(0.5, []bucket{{inf, 3}}); !math.IsNaN(v) {
		t.Errorf("a histogram without bounds has the median %g", v)
	}
	for name, pair := range map[string][2][]bucket{
		"nothing came":  {after, after},
		"a restart":     {after, before},
		"other buckets": {before, {{1, 9}, {3, 9}, {4, 9}, {inf, 9}}},
		"none":          {nil, nil},
	} {
		if g := grown(pair[0], pair[1]); g != nil {
			t.Errorf("%s: %v", name, g)
		}
	}
}
