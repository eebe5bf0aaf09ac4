//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
)

// startLlamaPython starts llama-cpp-python's server with the random model and the libraries
// that were built for llama-server. It answers one conversation at a time.
func startLlamaPython(t *testing.T) (p *process, api string) {
	t.Helper()
	host, port := freeAddress(t)
	p = start(t, "llama-cpp-python", []string{"LLAMA_CPP_LIB_PATH=" + cached(t, "llama", "build", "bin")},
		python(t), "-m", "llama_cpp.server", "--model", cached(t, "tiny.gguf"), "--model_alias=tiny",
		"--host=127.0.0.1", "--port="+strconv.Itoa(port), "--n_ctx=8192", "--n_threads=1", "--n_threads_batch=1", "--logits_all=false")
	awaitAnswer(t, p, "http://"+host+"/v1/models") // the model is loaded
	return p, "http://" + host + "/v1"
}

// TestLlamaPythonPace compares the client's figures with the server's log of every turn.
// The server reports no usage in streams, so prompt tokens have to be unknown and output
// tokens are estimated.
func TestLlamaPythonPace(t *testing.T) {
	p, api := startLlamaPython(t)
	reports := probeAll(t, 4, api, 5, "--prompt-tokens=600", "--max-output-tokens=32")
	checkReuse(t, reports)
	all := turns(reports)
	prompts, totals := logged(t, p, "prompt eval time"), logged(t, p, "total time")
	if len(prompts) != len(all) || len(totals) != len(all) {
		t.Fatalf("the server logged %d prompt and %d total times of %d turns", len(prompts), len(totals), len(all))
	}
	duration := func(t turn) *float64 { return &t.Duration }
	within(t, "mean TTFT beyond the server's prompt time", mean(each(all, ttft))-mean(prompts), 0, 0.060)
	within(t, "mean duration beyond the server's total", mean(each(all, duration))-mean(totals), -0.005, 0.060)
	checkCheaperFollowups(t, reports)
	for i, turn := range all {
		if turn.PromptTokens != nil || turn.CachedTokens != nil {
			t.Errorf("turn %d: %v prompt and %v cached tokens of a server that reports none, want null", i, value(turn.PromptTokens), value(turn.CachedTokens))
		}
		if turn.OutputTokens == nil || *turn.OutputTokens > 32 || *turn.OutputTokens < 2 {
			t.Errorf("turn %d: an estimate of %v output tokens, want at most 32", i, value(turn.OutputTokens))
		}
	}
}

// logged returns the times, in seconds, that the server printed under a name.
func logged(t *testing.T, p *process, name string) []float64 {
	t.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`llama_perf_context_print: +%s = +([0-9.]+) ms`, name))
	var out []float64
	for _, m := range line.FindAllStringSubmatch(p.output(t), -1) {
		ms, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ms/1e3)
	}
	return out
}
