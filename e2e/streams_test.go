package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// captured is a stream of a real server.
type captured struct {
	file   string
	status int
	// cut is true if the connection broke before the end of the chunked body.
	cut bool

	outcome probe.Outcome
	// events is the number of events with a token.
	events int
	// numbers of tokens; -1 means unknown
	output, prompt, cached int
}

func captures() []captured {
	return []captured{
		{file: "dynamo-success", status: 200, outcome: probe.Success, events: 4, output: 4, prompt: 12, cached: 0},
		{file: "dynamo-cached", status: 200, outcome: probe.Success, events: 4, output: 4, prompt: 87, cached: 80},
		{file: "dynamo-continuous-usage", status: 200, outcome: probe.Success, events: 4, output: 4, prompt: 12, cached: 0},
		{file: "dynamo-no-usage", status: 200, outcome: probe.Success, events: 4, output: 4, prompt: -1, cached: -1},
		{file: "dynamo-frontend-killed", status: 200, cut: true, outcome: probe.Truncated, events: 3, output: 3, prompt: -1, cached: -1},
		{file: "dynamo-worker-killed", status: 200, outcome: probe.ErrorEvent, events: 3, output: 3, prompt: -1, cached: -1},
		{file: "dynamo-no-worker", status: 503, outcome: probe.HTTP5xx, output: -1, prompt: -1, cached: -1},
		{file: "dynamo-overloaded", status: 529, outcome: probe.HTTP429, output: -1, prompt: -1, cached: -1},
		{file: "dynamo-unknown-model", status: 404, outcome: probe.HTTP4xx, output: -1, prompt: -1, cached: -1},
		{file: "dynamo-unknown-field", status: 400, outcome: probe.HTTP4xx, output: -1, prompt: -1, cached: -1},
		{file: "llama-server-success", status: 200, outcome: probe.Success, events: 4, output: 4, prompt: 12, cached: 0},
		{file: "llama-server-progress", status: 200, outcome: probe.Success, events: 4, output: 4, prompt: 10, cached: 3},
		// Its first event holds two tokens, because the server waited for a whole UTF-8
		// character. Without usage, the estimate is one token too low.
		{file: "llama-server-no-usage", status: 200, outcome: probe.Success, events: 3, output: 3, prompt: -1, cached: -1},
		{file: "llama-server-killed", status: 200, cut: true, outcome: probe.Truncated, events: 2, output: 2, prompt: -1, cached: -1},
		{file: "llama-server-over-length", status: 400, outcome: probe.HTTP4xx, output: -1, prompt: -1, cached: -1},
		{file: "llama-cpp-python-success", status: 200, outcome: probe.Success, events: 4, output: 4, prompt: -1, cached: -1},
		{file: "llama-cpp-python-over-length", status: 200, outcome: probe.Empty, output: -1, prompt: -1, cached: -1},
		{file: "llama-cpp-python-interrupted", status: 200, cut: true, outcome: probe.Truncated, events: 3, output: 3, prompt: -1, cached: -1},
		{file: "llama-cpp-python-killed", status: 200, cut: true, outcome: probe.Truncated, events: 2, output: 2, prompt: -1, cached: -1},
	}
}

// TestCapturedStreams replays streams of real servers to the prober over TCP.
func TestCapturedStreams(t *testing.T) {
	for _, c := range captures() {
		t.Run(c.file, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", "streams", c.file+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(replay(c, body))
			defer server.Close()
			got := converseOnce(t, server.URL+"/v1")
			if got.Outcome != c.outcome {
				t.Errorf("outcome %q (%s), want %q", got.Outcome, got.Err, c.outcome)
			}
			if got.Events != c.events {
				t.Errorf("%d token events, want %d", got.Events, c.events)
			}
			for _, tokens := range []struct {
				what string
				got  probe.Opt[int]
				want int
			}{
				{"output", got.OutputTokens, c.output}, {"prompt", got.PromptTokens, c.prompt}, {"cached", got.CachedTokens, c.cached},
			} {
				if tokens.got.OK != (tokens.want >= 0) || tokens.got.OK && tokens.got.V != tokens.want {
					t.Errorf("%s tokens: %+v, want %d (-1: unknown)", tokens.what, tokens.got, tokens.want)
				}
			}
		})
	}
}

// TestCapturesAreAllUsed: the table has every file of testdata.
func TestCapturesAreAllUsed(t *testing.T) {
	used := map[string]bool{}
	for _, c := range captures() {
		used[c.file+".txt"] = true
	}
	entries, err := os.ReadDir(filepath.Join("testdata", "streams"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !used[e.Name()] {
			t.Errorf("testdata/streams/%s is in no row of the table", e.Name())
		}
	}
}

// replay answers every request with the captured body.
func replay(c captured, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		kind := "text/event-stream"
		if c.status != http.StatusOK {
			kind = "application/json"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(c.status)
		_, _ = w.Write(body) // if the client has left, its own result shows it
		if c.cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	})
}

// converseOnce holds a conversation of one turn.
func converseOnce(t *testing.T, baseURL string) probe.Result {
	t.Helper()
	limit := 20 * time.Second
	spec := workload.Spec{
		Name: "captured", TurnsMin: 1, TurnsMax: 1, PromptTokens: 10, FollowupTokens: 10, MaxOutputTokens: 4, Seed: 1,
		Timeouts: workload.Timeouts{FirstToken: limit, Stall: limit, Total: limit},
	}
	prober, err := probe.New(probe.Options{
		Target:   target.Target{Name: "captured", BaseURL: baseURL, Connection: target.PerConversation},
		Workload: spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer prober.Close()
	source, err := workload.NewSource(spec, 0)
	if err != nil {
		t.Fatal(err)
	}
	var results sink
	prober.Converse(t.Context(), probe.Plan{Conversation: source.Next(), Scheduled: time.Now(), Model: "tiny"}, &results)
	if len(results) != 1 {
		t.Fatalf("%d results, want 1", len(results))
	}
	return results[0]
}

// sink collects results.
type sink []probe.Result

func (s *sink) Observe(e probe.Event) {
	if r, ok := e.(probe.Result); ok {
		*s = append(*s, r)
	}
}
