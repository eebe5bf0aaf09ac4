package probe_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/dialect"
	"synthetic/internal/probe/workload"
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

// TestSimulatedFaults checks the outcome of each fault in every API.
func TestSimulatedFaults(t *testing.T) {
	for want, kind := range map[probe.Outcome]simulate.IncidentKind{
		probe.HTTP5xx:    simulate.ErrorStatus,
		probe.HTTP429:    simulate.BusyStatus,
		probe.Truncated:  simulate.CutStream,
		probe.ErrorEvent: simulate.ErrorEvent,
		probe.Stall:      simulate.StallStream,
	} {
		for _, api := range dialect.Names() {
			_, o := simulated(t, api, simulate.Options{Incidents: []simulate.Incident{{Kind: kind, Share: 1}}})
			if want == probe.Stall {
				o.Workload.Timeouts.Stall = 200 * time.Millisecond
			}
			if r := once(t, o); r.Outcome != want {
				t.Errorf("%s: %s (%s), want %s", api, r.Outcome, r.Err, want)
			}
		}
	}
}

// TestSimulatedTools checks a tool call, the answer to its result, the next question, and the
// mistakes of broken parsers.
func TestSimulatedTools(t *testing.T) {
	for _, api := range []dialect.Name{"chat", "azure", "responses", "messages"} {
		for kind, want := range map[simulate.IncidentKind]probe.Outcome{
			"": probe.Success, simulate.BadArguments: probe.ToolCallInvalid, simulate.ToolMarkup: probe.ToolCallInvalid,
		} {
			var faults simulate.Options
			if kind != "" {
				faults.Incidents = []simulate.Incident{{Kind: kind, Share: 1}}
			}
			_, o := simulated(t, api, faults)
			o.Workload.Tools = toolOptions("").Workload.Tools
			o.Workload.ToolChoice = workload.ChoiceRequired
			results, sum := converse(t.Context(), t, o, 3)
			if sum.Outcome != want || want == probe.Success && len(results) < 3 {
				t.Errorf("%s, %q: %s after %d turns, want %s: %+v", api, kind, sum.Outcome, len(results), want, results)
			}
		}
	}
}
