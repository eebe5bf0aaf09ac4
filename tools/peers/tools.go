//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"synthetic/internal/study/report"
)

// scenario is a load: conversations in flight.
type scenario struct{ level, requests int }

func scenarios() []scenario { return []scenario{{64, 256}, {256, 768}, {1000, 1500}} }

func (s scenario) String() string { return fmt.Sprintf("%d streams", s.level) }

// tool is the command line of a program, the path of its result, and a function that reads
// the result: figures in ms, in the order of columns. interpolates says that its quantiles are between two values.
type tool struct {
	name         string
	args         []string
	result       string
	read         func(path string) ([5]float64, error)
	interpolates bool
}

// tools returns the compared tools, synthetic first.
func (b bench) tools(s scenario) []tool {
	out := filepath.Join(b.dir, fmt.Sprint(s.level))
	return []tool{
		b.sweep(s, out+"-own"),
		{"AIPerf", b.aiperf(s, out+"-aiperf"), out + "-aiperf", aiperf, true},
		{"GuideLLM", b.guidellm(s, out+"-guidellm.json"), out + "-guidellm.json", guidellm, false},
		{"vLLM bench", b.vllm(s, out+"-vllm.json"), out + "-vllm.json", vllm, true},
		{"inference-perf", []string{"inference-perf", "--config_file", b.inferencePerf(s, out)}, out + "-inference-perf/summary_lifecycle_metrics.json", inferencePerf, true},
	}
}

func (b bench) aiperf(s scenario, out string) []string {
	return []string{"aiperf", "profile", "-m", "truth", "--url", b.url, "--endpoint-type", "chat", "--streaming", "--use-server-token-count",
		"--request-count", fmt.Sprint(s.requests), "--synthetic-input-tokens-mean", "16", "--output-tokens-mean", fmt.Sprint(tokens),
		"--tokenizer", b.tokenizer, "--artifact-dir", out, "--ui", "none", "--no-gpu-telemetry", "--no-server-metrics",
		"--concurrency", fmt.Sprint(s.level)}
}

func (b bench) guidellm(s scenario, out string) []string {
	profile := fmt.Sprintf("kind=concurrent,streams=%d", s.level)
	return []string{"guidellm", "run", "--backend", "kind=openai_http,target=" + b.url + ",model=truth", "--profile", profile,
		"--constraint", fmt.Sprintf("kind=max_requests,count=%d", s.requests), "--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=16,output_tokens=%d", tokens),
		"--tokenizer", "kind=huggingface_auto,model=" + b.tokenizer, "--output", "kind=json,path=" + out, "--disable-console"}
}

func (b bench) vllm(s scenario, out string) []string {
	return []string{"vllm", "bench", "serve", "--backend", "openai-chat", "--base-url", b.url, "--endpoint", "/v1/chat/completions", "--model", "truth",
		"--tokenizer", b.tokenizer, "--dataset-name", "random", "--random-input-len", "16", "--random-output-len", fmt.Sprint(tokens),
		"--num-prompts", fmt.Sprint(s.requests), "--percentile-metrics", "ttft,tpot", "--metric-percentiles", "50,95,99", "--disable-tqdm",
		"--save-result", "--result-dir", filepath.Dir(out), "--result-filename", filepath.Base(out),
		"--max-concurrency", fmt.Sprint(s.level)}
}

// inferencePerf writes the configuration of inference-perf, with one worker for a whole
// level. Its own prompts of a given length need the tokenizer of a real model; the server
// answers all prompts alike.
func (b bench) inferencePerf(s scenario, out string) string {
	load := fmt.Sprintf("{type: concurrent, stages: [{num_requests: %d, concurrency_level: %d}], worker_max_concurrency: %[2]d}", s.requests, s.level)
	return b.write(out+"-inference-perf.yml", fmt.Sprintf("api: {type: chat, streaming: true}\nload: %s\n"+
		"data: {type: mock}\n"+
		"server: {type: vllm, model_name: truth, base_url: %q, ignore_eos: true}\ntokenizer: {pretrained_model_name_or_path: %q}\n"+
		"report: {request_lifecycle: {use_server_output_tokens: true}}\nstorage: {local_storage: {path: %q}}\n",
		load, b.url, b.tokenizer, out+"-inference-perf"))
}

// sweep returns a sweep of a load. Every turn is measured, like in the other tools.
func (b bench) sweep(s scenario, out string) tool {
	levels := fmt.Sprintf("{concurrency: [%d], start_rate: 0}", s.level)
	plan := b.write(out+".yml", fmt.Sprintf("variants: [{name: own, base_url: %s/v1, metrics_urls: []}]\nlevels: %s\nmeasure: {conversations: %d}\nslos: []\n"+
		"workload: {prompt_tokens: 16, max_output_tokens: %d, turns: {min: 1, max: 1}, think_time: {min: 0s, max: 0s}}\n", b.url, levels, s.requests, tokens))
	return tool{"synthetic", []string{b.own, "sweep", "--plan.file=" + plan, "--output.dir=" + out}, out, study, false}
}

func (b bench) write(path, text string) string {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "" // the program will report the error
	}
	return path
}

// study reads the run of a sweep.
func study(path string) (row [5]float64, err error) {
	read, err := report.Read(path)
	if err != nil {
		return row, err
	}
	for i, m := range []report.Metric{report.TTFTP50, report.TTFTP95, report.TTFTP99, report.TPOTP50, report.TPOTP95} {
		row[i] = read.Series[0].Levels[0].Figure(m).Value
	}
	return row, nil
}

func aiperf(dir string) (row [5]float64, err error) {
	type statistics struct{ P50, P95, P99 float64 }
	var r struct {
		TTFT statistics `json:"time_to_first_token"`
		TPOT statistics `json:"inter_token_latency"` // (latency − TTFT) / (tokens − 1) of each request
	}
	err = readJSON(filepath.Join(dir, "profile_export_aiperf.json"), &r)
	return [5]float64{r.TTFT.P50, r.TTFT.P95, r.TTFT.P99, r.TPOT.P50, r.TPOT.P95}, err
}

func guidellm(path string) (row [5]float64, err error) {
	type summary struct {
		Successful struct {
			Percentiles struct{ P50, P95, P99 float64 }
		}
	}
	var r struct {
		Benchmarks []struct {
			Metrics struct {
				TTFT summary `json:"time_to_first_token_ms"`
				TPOT summary `json:"inter_token_latency_ms"`
			}
		}
	}
	if err := readJSON(path, &r); err != nil {
		return row, err
	}
	if len(r.Benchmarks) == 0 {
		return row, fmt.Errorf("%s holds no benchmark", path)
	}
	m := r.Benchmarks[0].Metrics
	ttft, tpot := m.TTFT.Successful.Percentiles, m.TPOT.Successful.Percentiles
	return [5]float64{ttft.P50, ttft.P95, ttft.P99, tpot.P50, tpot.P95}, nil
}

func vllm(path string) (row [5]float64, err error) {
	var r struct {
		T50 float64 `json:"p50_ttft_ms"`
		T95 float64 `json:"p95_ttft_ms"`
		T99 float64 `json:"p99_ttft_ms"`
		P50 float64 `json:"p50_tpot_ms"`
		P95 float64 `json:"p95_tpot_ms"`
	}
	err = readJSON(path, &r)
	return [5]float64{r.T50, r.T95, r.T99, r.P50, r.P95}, err
}

func inferencePerf(path string) (row [5]float64, err error) {
	type seconds struct{ Median, P95, P99 float64 }
	var r struct {
		Successes struct {
			Latency struct {
				TTFT seconds `json:"time_to_first_token"`
				TPOT seconds `json:"time_per_output_token"`
			}
		}
	}
	err = readJSON(path, &r)
	ttft, tpot := r.Successes.Latency.TTFT, r.Successes.Latency.TPOT
	return [5]float64{1000 * ttft.Median, 1000 * ttft.P95, 1000 * ttft.P99, 1000 * tpot.Median, 1000 * tpot.P95}, err
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
