package main

import (
	"net/http"
	"testing"
	"time"

	"synthetic/internal/simulate"
)

// TestFaultsInMidTraffic changes the behaviour of the deployment while it is probed. In all
// cases every scrape accounts for every turn, failures have the right reason, the traffic
// loops stay alive, and turns succeed again after the fault. TestMain checks that no
// goroutine is left.
func TestFaultsInMidTraffic(t *testing.T) {
	t.Parallel()
	healthy := simulate.Options{
		Seed: 1, FirstToken: simulate.Delay{Median: 5 * time.Millisecond},
		InterToken: simulate.Delay{Median: time.Millisecond}, Answer: simulate.Length{Median: 8},
	}
	for _, tc := range []struct {
		name   string
		fault  func(*simulate.Options)
		reason string
	}{
		{"hang", befall(simulate.NoAnswer, 1), "timeout_first_token"},
		{"cut", befall(simulate.CutStream, 1), "truncated"},
		{"500", befall(simulate.ErrorStatus, 1), "http_5xx"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d, server := fastDeployment(t)
			p := sidecarRun(t, configFor(t, "", map[string]string{"a": server.URL}))
			p.until("healthy turns", func(s map[string]float64) bool { n, _ := sum(s, "synthetic_turns_total"); return n > 10 })
			d.Update(tc.fault)
			p.until(tc.reason, func(s map[string]float64) bool {
				accounted(t, s)
				n, _ := sum(s, "synthetic_turn_failures_total", `reason="`+tc.reason+`"`)
				return n >= 3
			})
			d.Update(func(o *simulate.Options) { *o = healthy })
			recovered(t, p)
		})
	}
}

// befall makes an incident affect a share of the requests.
func befall(kind simulate.IncidentKind, share float64) func(*simulate.Options) {
	return func(o *simulate.Options) { o.Incidents = []simulate.Incident{{Kind: kind, Share: share}} }
}

// recovered waits for successes and checks that the traffic loops are alive.
func recovered(t *testing.T, p *program) {
	t.Helper()
	successes := func(s map[string]float64) float64 {
		n, _ := sum(s, "synthetic_turn_duration_window_seconds_count") // it counts successes only
		return n
	}
	before := successes(p.series())
	p.until("successful turns after the fault", func(s map[string]float64) bool {
		accounted(t, s)
		return successes(s) > before+10
	})
	if code, body := p.get("/-/ready"); code != http.StatusOK {
		t.Errorf("not ready after the fault: %d %s", code, body)
	}
}
