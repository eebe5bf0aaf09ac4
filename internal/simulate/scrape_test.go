package simulate

import (
	"math"
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
		began := time.Now()
		first := c.say(t, history, "")
		again := c.say(t, append(history, assistant(first.content), user("more")), "")
		ttft := time.Since(began) - first.at[len(first.at)-1] - again.at[len(again.at)-1]
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
			"vllm:cache_config_info":                     1,
		} {
			if got := p.sum(t, name); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		for name, want := range map[string]float64{
			"vllm:time_to_first_token_seconds": 2,
			"vllm:inter_token_latency_seconds": 20,
		} {
			if got := p.count(t, name); got != want {
				t.Errorf("%s has %v samples, want %v", name, got, want)
			}
		}
		// The TTFT of the engine lacks the delays of 40 and 10 ms of the frontend.
		if got, want := p.sum(t, "vllm:time_to_first_token_seconds"), ttft.Seconds()-.1; math.Abs(got-want) > 1e-6 {
			t.Errorf("the TTFT of two turns is %v s, want %v s", got, want)
		}
	})
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
			ttft: mean("vllm:time_to_first_token_seconds"), itl: mean("vllm:inter_token_latency_seconds"),
			hits: growth("vllm:prompt_tokens_cached_total", page.sum) / growth("vllm:prompt_tokens_total", page.sum),
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
