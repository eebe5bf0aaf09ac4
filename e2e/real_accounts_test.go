//go:build e2e && real

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/study/runs"
)

// accountsConfiguration sends turns over all four APIs of vLLM.
const accountsConfiguration = `
targets:
  - {name: chat, base_url: %[1]q, model: tiny}
  - {name: completions, base_url: %[1]q, api: completions}
  - {name: responses, base_url: %[1]q, model: tiny, api: responses}
  - {name: messages, base_url: %[1]q, api: messages}
workloads:
  - {name: chat, turns: {min: 2, max: 4}, prompt_tokens: 200, max_output_tokens: 32}
traffic:
  - {workload: chat, arrival: {rate: 0.2}}
slos:
  - {name: ttft, sli: ttft, threshold: 2s, objective: 99%%}
`

// TestRealAccounts compares what vLLM counted with what the sidecar counted, to the last
// request and token. Nothing else sends requests to this vLLM.
func TestRealAccounts(t *testing.T) {
	s := startVLLM(t)
	fresh := scrape(t, s.metrics())
	log := filepath.Join(t.TempDir(), "turns.jsonl")
	sidecar := startConfigured(t, fmt.Sprintf(accountsConfiguration, s.api()), "--turns.file="+log)
	sidecar.awaitTurns(t, 150)

	var theirs families
	var access string
	ours := sidecar.quiet(t, func() { theirs, access = scrape(t, s.metrics()), s.vllm.output(t) })
	grown := func(name string) float64 { return theirs.sum("vllm:"+name, nil) - fresh.sum("vllm:"+name, nil) }
	turns := ours.sum("synthetic_turns_total", nil)
	for _, c := range []struct {
		what         string
		ours, theirs float64
	}{
		{"requests", turns, grown("request_success_total")},
		{"requests of the access log", turns, float64(strings.Count(access, `"POST /v1/`))},
		{"requests for the list of models", ours.sum("synthetic_other_requests_total", map[string]string{"purpose": "models"}), float64(strings.Count(access, `"GET /v1/models`))},
		{"prompt tokens", ours.sum("synthetic_prompt_tokens_total", nil), grown("prompt_tokens_total")},
		{"cached tokens", ours.sum("synthetic_cached_prompt_tokens_total", nil), grown("prompt_tokens_cached_total")},
		{"output tokens", ours.sum("synthetic_output_tokens_total", nil), grown("generation_tokens_total")},
	} {
		t.Logf("%s: the sidecar counts %.0f, vLLM %.0f", c.what, c.ours, c.theirs)
		if c.ours != c.theirs {
			t.Errorf("the sidecar counts %.0f %s, vLLM %.0f", c.ours, c.what, c.theirs)
		}
	}

	sidecar.stop()
	lines, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	// Turns that started after the sidecar was quiet are in the log, too.
	logged := float64(bytes.Count(lines, []byte("\n")))
	if later := scrape(t, s.metrics()); logged != later.sum("vllm:request_success_total", nil)-fresh.sum("vllm:request_success_total", nil) {
		t.Errorf("the turn log has %.0f turns, vLLM counts %.0f", logged, later.sum("vllm:request_success_total", nil))
	}
}

func (s *realServers) api() string     { return "http://" + s.vllmAddress + "/v1" }
func (s *realServers) metrics() string { return "http://" + s.vllmAddress + "/metrics" }

// quiet reads the server's counts at a moment without a request in flight, and returns the
// metrics of the sidecar from then.
func (s *sidecar) quiet(t *testing.T, read func()) families {
	t.Helper()
	sent := func(f families) float64 {
		return f.sum("synthetic_turns_started_total", nil) + f.sum("synthetic_other_requests_total", nil)
	}
	var ours families
	await(t, patience, "a moment without a request in flight", func() error {
		before := s.metrics(t)
		read()
		time.Sleep(time.Second) // the sidecar renders its metrics at most once a second
		ours = s.metrics(t)
		if before.sum("synthetic_turns_in_flight", nil) != 0 || sent(before) != sent(ours) {
			return errors.New("requests are in flight")
		}
		return nil
	}, s.process)
	return ours
}

// TestRealSweep compares the means of a sweep with those of vLLM's histograms over the same
// turns.
func TestRealSweep(t *testing.T) {
	s := startVLLM(t)
	r := record(t, s.metrics())
	run := runSweep(t, "sweep-vllm.yml", map[string]string{"VLLM": s.api()})
	r.finish(t)
	t.Log("| level | turns | TTFT, ms | vLLM | TPOT, ms | vLLM | duration, ms | vLLM's engine | duration, ms | vLLM's HTTP server |")
	for i, level := range run.Results {
		before, after := windowOf(t, r, run.Results[i:])
		var ttft, tpot, latency runs.Distribution
		var turns uint64
		for _, b := range level.Snapshots[0].Blocks {
			for _, n := range b.Outcomes {
				turns += n
			}
			for _, d := range []runs.Distributions{b.First, b.Followup} {
				ttft.Merge(d.TTFT)
				tpot.Merge(d.TPOT)
				latency.Merge(d.Latency)
			}
		}
		row := fmt.Sprintf("| %g | %d |", level.Level, turns)
		for _, c := range []struct {
			what   string
			ours   runs.Distribution
			theirs string
			// longer is by how much the client's figure may exceed the server's: it also
			// contains the connection and the way there and back.
			longer time.Duration
		}{
			{"TTFT", ttft, "vllm:time_to_first_token_seconds", 30 * time.Millisecond},
			{"TPOT", tpot, "vllm:request_time_per_output_token_seconds", 0},
			{"duration", latency, "vllm:e2e_request_latency_seconds", 30 * time.Millisecond},
			// The HTTP server also parses the request and writes the answer.
			{"duration", latency, "http_request_duration_seconds", 10 * time.Millisecond},
		} {
			known := c.ours.Values.Count()
			ours, theirs := c.ours.Values.Sum()/float64(known), meanBetween(before, after, c.theirs)
			row += fmt.Sprintf(" %.2f | %.2f (%+.1f %%) |", ours*1e3, theirs*1e3, 100*(ours/theirs-1))
			if n := after.count(c.theirs, nil) - before.count(c.theirs, nil); n != float64(turns) {
				t.Errorf("level %g: vLLM counts %.0f turns, the sweep %d", level.Level, n, turns)
			}
			if known < turns {
				t.Logf("level %g: the sweep does not know the %s of %d turns, so its mean is of other turns than vLLM's", level.Level, c.what, turns-known)
				continue
			}
			if off := ours - theirs; off < -0.02*theirs || off > 0.02*theirs+c.longer.Seconds() {
				t.Errorf("level %g: mean %s %.2f ms, vLLM's %.2f ms", level.Level, c.what, ours*1e3, theirs*1e3)
			}
		}
		t.Log(row)
	}
}
