//go:build e2e

package e2e

import (
	"fmt"
	"strconv"
	"testing"
)

// llamaServer is llama.cpp's own server with the random model.
type llamaServer struct {
	*process
	root string
}

func (s *llamaServer) api() string { return s.root + "/v1" }

func startLlamaServer(t *testing.T, flags ...string) *llamaServer {
	t.Helper()
	return startLlamaServerOn(t, "tiny.gguf", flags...)
}

// startLlamaServerOn starts the server with another file of the same model.
func startLlamaServerOn(t *testing.T, model string, flags ...string) *llamaServer {
	t.Helper()
	host, port := freeAddress(t)
	s := &llamaServer{root: "http://" + host}
	flags = append([]string{cached(t, "llama", "build", "bin", "llama-server"),
		"--model", cached(t, model), "--alias", "tiny", "--host", "127.0.0.1", "--port", strconv.Itoa(port),
		// One slot, so that a conversation finds its own prefix; one thread, so that the
		// client has a core to itself.
		"--parallel", "1", "--threads", "1", "--threads-batch", "1", "--ctx-size", "8192", "--metrics", "--offline", "--jinja"}, flags...)
	s.process = start(t, "llama-server", nil, flags...)
	awaitAnswer(t, s.process, s.root+"/health") // the model is loaded
	return s
}

// TestLlamaServerPace compares the client's figures with the server's counters.
func TestLlamaServerPace(t *testing.T) {
	s := startLlamaServer(t)
	before := scrape(t, s.root+"/metrics")
	// This server announces keep-alive and closes the connection after each stream; the
	// client has to notice before the next turn.
	reports := probeAll(t, 6, s.api(), 5, "--prompt-tokens=600", "--max-output-tokens=64")
	after := scrape(t, s.root+"/metrics")
	all, n := turns(reports), float64(len(turns(reports)))
	grown := func(name string) float64 { return after.sum(name, nil) - before.sum(name, nil) }

	prompt := grown("llamacpp:prompt_seconds_total") / n
	within(t, "mean TTFT beyond the server's prompt time", mean(each(all, ttft))-prompt, 0, 0.060)
	gap := grown("llamacpp:tokens_predicted_seconds_total") / (grown("llamacpp:tokens_predicted_total") - n)
	within(t, "mean gap beyond the server's", meanGap(all)-gap, -0.001, 0.001)

	var output, cachedTokens float64
	for _, turn := range all {
		output += float64(*turn.OutputTokens)
		cachedTokens += float64(*turn.CachedTokens)
	}
	if want := grown("llamacpp:tokens_predicted_total"); output != want {
		t.Errorf("the client counted %v output tokens, the server %v", output, want)
	}
	if want := grown("llamacpp:prompt_tokens_cached_total"); cachedTokens != want {
		t.Errorf("the client counted %v cached tokens, the server %v", cachedTokens, want)
	}
	checkGrowingCache(t, reports)
	checkCheaperFollowups(t, reports)
}

// checkGrowingCache: with one slot every turn finds the prompt of the previous turn, and
// therefore more than that turn found.
func checkGrowingCache(t *testing.T, reports []answer) {
	t.Helper()
	for i, r := range reports {
		for j := 1; j < len(r.Turns); j++ {
			before, got := r.Turns[j-1], r.Turns[j]
			if *got.CachedTokens <= *before.CachedTokens || *got.CachedTokens < *before.PromptTokens-block {
				t.Errorf("conversation %d, turn %d: %d cached tokens after a prompt of %d of which %d were cached",
					i, j+1, *got.CachedTokens, *before.PromptTokens, *before.CachedTokens)
			}
		}
	}
	logCache(t, reports)
}

// checkCheaperFollowups: the cache reduces the TTFT.
func checkCheaperFollowups(t *testing.T, reports []answer) {
	t.Helper()
	var first, followup []turn
	for _, r := range reports {
		first = append(first, r.Turns[0])
		followup = append(followup, r.Turns[1:]...)
	}
	a, b := median(each(first, ttft)), median(each(followup, ttft))
	within(t, fmt.Sprintf("median TTFT of follow-up turns (first turns: %.0f ms)", a*1e3), b, 0, a/2)
}
