package simulate

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"synthetic/internal/simulate/cluster"
)

// page holds scraped metrics.
type page map[string]*dto.MetricFamily

// scrape parses /metrics like Prometheus.
func (c client) scrape(t *testing.T) page {
	t.Helper()
	_, text := c.get(t, "/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("parsing the metrics: %v", err)
	}
	return families
}

// sum adds up the values of the series of a family. The value of a histogram is its sum.
func (p page) sum(t *testing.T, name string) (sum float64) {
	t.Helper()
	f := p[name]
	if f == nil {
		t.Fatalf("no family %s", name)
	}
	for _, m := range f.Metric {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
	}
	return sum
}

// count adds up the sample counts of the series of a histogram.
func (p page) count(t *testing.T, name string) (n float64) {
	t.Helper()
	f := p[name]
	if f == nil {
		t.Fatalf("no family %s", name)
	}
	for _, m := range f.Metric {
		n += float64(m.GetHistogram().GetSampleCount())
	}
	return n
}

// known gives a cluster fixed frontend delays.
func known(c *cluster.Config) {
	c.Frontend = cluster.Frontend{RequestDelay: 40 * time.Millisecond, ResponseDelay: 10 * time.Millisecond}
}

func TestMetricsOfOneTurn(t *testing.T) {
	o := Options{Answer: Length{Median: 41}, Cluster: preset(t, "eagle3", known, func(c *cluster.Config) {
		c.Engine.Speculation = cluster.Speculation{Draft: 3, Acceptance: 1, KVTokens: 24_000}
		c.Engine.KVTokens = 348_000
	})}
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		history := []message{long("a", 993)}
		first := c.say(t, history, "")
		c.say(t, append(history, assistant(first.content), user("more")), "")
		p := c.scrape(t)
		prompts := float64(first.usage.Prompt) + float64(first.usage.Total) + 9 // the marks of three messages, and "more"
		for name, want := range map[string]float64{
			"vllm:num_requests_running":                  0,
			"vllm:num_requests_waiting":                  0,
			"vllm:kv_cache_usage_perc":                   0,
			"vllm:prompt_tokens_total":                   prompts,
			"vllm:prompt_tokens_cached_total":            1040,
			"vllm:prefix_cache_queries_total":            prompts,
			"vllm:prefix_cache_hits_total":               1040,
			"vllm:generation_tokens_total":               82,
			"vllm:spec_decode_num_draft_tokens_total":    60,
			"vllm:spec_decode_num_accepted_tokens_total": 60,
			"vllm:num_preemptions_total":                 0,
			"vllm:request_queue_time_seconds":            0,
			"vllm:cache_config_info":                     1,
			"dynamo_frontend_inflight_requests":          0,
			"dynamo_frontend_queued_requests":            0,
			"dynamo_frontend_input_sequence_tokens":      prompts,
			"dynamo_frontend_cached_tokens":              1040,
			"dynamo_frontend_output_sequence_tokens":     82,
			"dynamo_frontend_output_tokens_total":        82,
			"dynamo_frontend_model_total_kv_blocks":      (348_000 - 24_000) / 16,
			"dynamo_frontend_model_kv_cache_block_size":  16,
		} {
			if got := p.sum(t, name); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		for name, want := range map[string]float64{
			"vllm:time_to_first_token_seconds":            2,
			"vllm:inter_token_latency_seconds":            20,
			"vllm:request_queue_time_seconds":             2,
			"dynamo_frontend_time_to_first_token_seconds": 2,
			"dynamo_frontend_inter_token_latency_seconds": 20,
		} {
			if got := p.count(t, name); got != want {
				t.Errorf("%s has %v samples, want %v", name, got, want)
			}
		}
		// The histogram of the engine lacks the delays of 40 and 10 ms of the frontend, in two requests.
		engine, front := p.sum(t, "vllm:time_to_first_token_seconds"), p.sum(t, "dynamo_frontend_time_to_first_token_seconds")
		if got := front - engine; math.Abs(got-.1) > 1e-9 {
			t.Errorf("the TTFT of the frontend is %v s more than that of the engine, want 0.1", got)
		}
		if p["dynamo_component_router_kv_hit_rate"] != nil {
			t.Error("a round-robin router has hit rates")
		}
	})
}

func TestEngineMetricsExcludeTheNetwork(t *testing.T) {
	ttft := func(incidents ...Incident) (engine, front float64) {
		o := Options{Cluster: preset(t, "phase0", known), Answer: Length{Median: 5}, Incidents: incidents}
		bench(t, o, func(t *testing.T, _ *Deployment, c client) {
			c.say(t, []message{user("hi")}, "")
			p := c.scrape(t)
			engine, front = p.sum(t, "vllm:time_to_first_token_seconds"), p.sum(t, "dynamo_frontend_time_to_first_token_seconds")
		})
		return engine, front
	}
	engine, front := ttft()
	slowEngine, slowFront := ttft(Incident{Kind: cluster.SlowNetwork, Factor: 10})
	if math.Abs(slowEngine-engine) > 1e-9 || math.Abs(slowFront-front-9*.05) > 1e-9 {
		t.Errorf("ten times the network delay: engine %v s then %v s, frontend %v s then %v s", engine, slowEngine, front, slowFront)
	}
}

// figures are the means of the metrics of a busy preset.
type figures struct{ running, waiting, ttft, itl, hits float64 }

// busyFigures runs a preset with a load and scrapes it twice.
func busyFigures(t *testing.T, name string, concurrency int) (f figures) {
	t.Helper()
	o := Options{Seed: 1, Cluster: preset(t, name), Load: Load{Concurrency: concurrency, WarmUp: time.Minute}}
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		before := c.scrape(t)
		time.Sleep(3 * time.Minute)
		after := c.scrape(t)
		growth := func(name string, get func(page, *testing.T, string) float64) float64 {
			return get(after, t, name) - get(before, t, name)
		}
		mean := func(name string) float64 { return growth(name, page.sum) / growth(name, page.count) }
		f = figures{
			running: after.sum(t, "vllm:num_requests_running"), waiting: after.sum(t, "vllm:num_requests_waiting"),
			ttft: mean("dynamo_frontend_time_to_first_token_seconds"), itl: mean("vllm:inter_token_latency_seconds"),
			hits: growth("vllm:prompt_tokens_cached_total", page.sum) / growth("vllm:prompt_tokens_total", page.sum),
		}
		if queued := mean("vllm:request_queue_time_seconds"); !(queued > 0) {
			t.Errorf("%s: requests wait %v s for their first step", name, queued)
		}
		if front := growth("dynamo_frontend_cached_tokens", page.sum) / growth("dynamo_frontend_input_sequence_tokens", page.sum); math.Abs(front-f.hits) > .02 {
			t.Errorf("%s: cached share of the prompts: %v by the frontend, %v by the engines", name, front, f.hits)
		}
		t.Logf("%s at %d: %+v", name, concurrency, f)
	})
	return f
}

func TestPresetsDifferAsMeasured(t *testing.T) {
	plain, drafting := busyFigures(t, "phase0", 60), busyFigures(t, "eagle3", 60)
	if drafting.itl < plain.itl*1.1 {
		t.Errorf("with a drafter whose drafts are rejected %v s per event, without %v s", drafting.itl, plain.itl)
	}
	over := busyFigures(t, "eagle3", 80)
	if over.running > 64 || over.waiting < 8 || over.ttft < 1 || drafting.ttft > 1 {
		t.Errorf("80 conversations for 64 places: %+v; 60: %+v", over, drafting)
	}
	roundRobin, kv := busyFigures(t, "trtllm-rr", 60), busyFigures(t, "trtllm-kv", 60)
	if kv.hits < roundRobin.hits+.05 || kv.itl > roundRobin.itl {
		t.Errorf("round-robin %+v, KV-aware %+v", roundRobin, kv)
	}
}

func TestRouterHitRate(t *testing.T) {
	o := Options{Cluster: preset(t, "trtllm-kv"), Load: Load{Concurrency: 6, WarmUp: time.Minute}}
	bench(t, o, func(t *testing.T, _ *Deployment, c client) {
		p := c.scrape(t)
		n, sum := p.count(t, "dynamo_component_router_kv_hit_rate"), p.sum(t, "dynamo_component_router_kv_hit_rate")
		if n != p.count(t, "vllm:time_to_first_token_seconds") || sum <= 0 || sum > n {
			t.Errorf("%v hit rates with a sum of %v", n, sum)
		}
		if got := len(p["vllm:num_requests_running"].Metric); got != 3 {
			t.Errorf("%d engines, want 3", got)
		}
		// Six conversations in flight hold at least the blocks of their first prompts.
		if used := p.sum(t, "dynamo_component_gpu_cache_usage_percent") * 25_000; used < 6*3600/16 {
			t.Errorf("6 conversations of at least 3,600 tokens hold %v blocks", used)
		}
	})
}

func TestLogBuckets(t *testing.T) {
	const want = "[0.001 0.0022 0.0046 0.01 0.022 0.046 0.1]"
	if got := fmt.Sprint(logBuckets(.001, .1, 7)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUpdateToAnotherCluster checks that Update can replace the cluster.
func TestUpdateToAnotherCluster(t *testing.T) {
	bench(t, Options{Answer: Length{Median: 5}}, func(t *testing.T, d *Deployment, c client) {
		if got, _ := c.status(t); got != http.StatusOK {
			t.Errorf("status %d without a cluster", got)
		}
		if p := c.scrape(t); p["dynamo_frontend_inflight_requests"] != nil {
			t.Error("a deployment without a cluster has metrics of a frontend")
		}
		for _, name := range []string{"phase0", "trtllm-kv"} {
			next := preset(t, name)
			d.Update(func(o *Options) { o.Cluster = next })
			if got, _ := c.status(t); got != http.StatusOK {
				t.Errorf("%s: status %d", name, got)
			}
			p := c.scrape(t)
			if got := len(p["vllm:num_requests_running"].Metric); got != next.Workers {
				t.Errorf("%s: %d engines, want %d", name, got, next.Workers)
			}
			if got := p.count(t, "dynamo_frontend_output_sequence_tokens"); got != 1 {
				t.Errorf("%s: %v requests, want 1", name, got)
			}
		}
	})
}
