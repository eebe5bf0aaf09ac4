package sweep

import (
	"net/http"
	"testing"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/slo"
)

// network is a set of hosts in memory, so that sweeps run in virtual time.
type network struct{ simulate.Network }

// serve puts a handler on the network until the test ends.
func (n *network) serve(t *testing.T, host string, h http.Handler) (stop func()) {
	t.Helper()
	_, stop = n.Serve(host+":80", h)
	return stop
}

// quick is a deployment that answers 20 tokens in 0.29 s. Events of four tokens save half of the CPU time of a turn.
func quick() simulate.Options {
	return simulate.Options{
		Seed: 1, FirstToken: simulate.Delay{Median: 100 * time.Millisecond},
		InterToken: simulate.Delay{Median: 47500 * time.Microsecond}, TokensPerEvent: 4, Answer: simulate.Length{Median: 20},
	}
}

// small is a plan of two levels against host "a".
func small() fleet.Plan {
	return fleet.Plan{
		About: fleet.About{Title: "small", Source: fleet.PlanFile{Text: "title: small\n", SHA256: "00"}}, Seed: 1,
		Variants: []fleet.Variant{variant("a")},
		Workload: workload.Spec{
			Name: "chat", TurnsMin: 2, TurnsMax: 3, PromptTokens: 100, FollowupTokens: 10, Starters: 5, Seed: 1,
			Timeouts: workload.Timeouts{FirstToken: 10 * time.Second, Stall: 5 * time.Second, Total: 20 * time.Second},
		},
		SLOs: []slo.Objective{
			{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
			{Name: "availability", SLI: slo.Availability, Objective: 0.99},
		},
		Levels: []float64{2, 4}, Arrivals: fleet.Arrivals{StartRate: 10},
		WarmUp:  fleet.WarmUp{Duration: 10 * time.Second},
		Measure: fleet.Measure{Snapshots: 3, Snapshot: 20 * time.Second}, Repetitions: 1,
		Order: fleet.Interleaved, Cache: fleet.Cache{Policy: fleet.KeepCache}, Confidence: 0.95,
	}
}

func variant(name string) fleet.Variant {
	return fleet.Variant{
		Name:    name,
		Target:  target.Target{Name: name, BaseURL: "http://" + name + "/v1", Connection: target.Reuse},
		Metrics: []string{"http://" + name + "/metrics"},
	}
}
