//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"
)

// gateway probes a router with one conversation per second.
const gateway = `
targets: [{name: gateway, base_url: %q, service: chat, worker: auto}]
workloads:
  - name: chat
    turns: {min: 3, max: 3}
    prompt_tokens: 200
    followups: {tokens: 20}
    max_output_tokens: 20
    think_time: {min: 100ms, max: 1s}
    timeouts: {first_token: 10s, stall: 5s, total: 20s}
traffic: [{targets: "*", workload: chat, arrival: {rate: 1}, max_concurrency: 20}]
`

// TestSlowReplicaBehindRouter probes a router of sixteen replicas, one of which takes three
// times as long for everything. Within three minutes of the prober's start, Prometheus
// pages about this replica and about no other; a busy machine starves the prober.
func TestSlowReplicaBehindRouter(t *testing.T) {
	t.Parallel()
	d := startDeployment(t, "--replicas=16", "--preset=phase0", "--incident=slow_network,workers=5,factor=3",
		"--incident=slow_prefill,workers=5,factor=3", "--incident=slow_decode,workers=5,factor=3")
	s := startConfigured(t, fmt.Sprintf(gateway, d.api()))
	began := time.Now()
	p := startPrometheus(t, s.address, s.generateRules(t))
	const paged = `max_over_time(ALERTS{alertstate="firing", severity="page", alertname!="` + starved + `"}[10m])`
	await(t, 3*time.Minute-time.Since(began), "a page", func() error {
		if len(p.series(t, paged, "alertname")) == 0 {
			return errors.New("nothing has fired")
		}
		return nil
	}, d.process, s.process, p.process)
	t.Logf("Prometheus pages %.0f s after the prober was ready", time.Since(began).Seconds())
	s.awaitTurns(t, 2*s.metrics(t).sum("synthetic_turns_total", nil)) // twice as many turns as now
	for label, want := range map[string]string{"alertname": "SyntheticReplicaSlow", "target": "gateway", "worker": "replica-5"} {
		if got := p.series(t, paged, label); !maps.Equal(got, map[string]string{want: "1"}) {
			t.Errorf("the %ss of the pages are %v, want %s alone", label, got, want)
		}
	}
}
