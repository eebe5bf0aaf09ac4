package probe_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/simulate"
)

// simulated starts a simulated deployment, which was written independently of this package, and
// returns options to probe it.
func simulated(t *testing.T, api dialect.Name, o simulate.Options) (*simulate.Deployment, probe.Options) {
	t.Helper()
	o.Model, o.Answer.Median, o.Reasoning = "m", 20, 0.25
	o.FirstToken.Median, o.InterToken.Median = time.Nanosecond, time.Nanosecond
	d := simulate.New(o)
	s := httptest.NewServer(d)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	opts := options(strings.TrimPrefix(s.URL, "http://"))
	opts.Target.API, opts.Target.BaseURL = api, s.URL+dialect.Of(api).Root
	return d, opts
}

// TestSimulatedAPIs runs conversations with a server of every API and compares the results with the
// server's counts.
func TestSimulatedAPIs(t *testing.T) {
	for _, api := range dialect.Names() {
		t.Run(string(api), func(t *testing.T) {
			const turns = 4
			d, o := simulated(t, api, simulate.Options{})
			results, sum := converse(t.Context(), t, o, turns)
			if sum.Outcome != probe.Success || len(results) != turns {
				t.Fatalf("%d turns, outcome %s: %+v", len(results), sum.Outcome, results)
			}
			prompt, output := 0, 0
			for _, r := range results {
				prompt += r.PromptTokens.V
				output += r.OutputTokens.V
				if !r.TTFT.OK {
					t.Errorf("turn %d has no TTFT", r.Turn)
				}
			}
			s := d.Stats()
			if prompt != s.PromptTokens || output != s.OutputTokens {
				t.Errorf("%d prompt and %d output tokens, the server counted %d and %d", prompt, output, s.PromptTokens, s.OutputTokens)
			}
		})
	}
}
