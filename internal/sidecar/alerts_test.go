package sidecar_test

import (
	"time"

	"synthetic/internal/simulate"
)

// alertsConfig probes a deployment with twelve conversations a minute.
const alertsConfig = `
targets:
  - {name: chat, base_url: http://deployment/v1, model: m}
workloads:
  - name: chat
    turns: {min: 3, max: 3}
    prompt_tokens: 200
    followups: {tokens: 20}
    max_output_tokens: 6
    think_time: {min: 100ms, max: 1s}
    timeouts: {first_token: 10s, stall: 5s, total: 20s}
traffic:
  - {targets: [chat], workload: chat, arrival: {process: poisson, rate: 0.2}, max_concurrency: 20}
slos:
  - {name: ttft, sli: ttft, threshold: 1s, objective: 99%}
  - {name: availability, sli: availability, objective: 99.5%}
`

// befall makes a share of the requests meet an incident.
func befall(kind simulate.IncidentKind, share float64) func(*simulate.Options) {
	return func(o *simulate.Options) { o.Incidents = []simulate.Incident{{Kind: kind, Share: share}} }
}

func healthyOptions() simulate.Options {
	return simulate.Options{
		Seed: 1, Model: "m",
		FirstToken: simulate.Delay{Median: 200 * time.Millisecond, Sigma: 0.3},
		InterToken: simulate.Delay{Median: 20 * time.Millisecond, Sigma: 0.2},
		Answer:     simulate.Length{Median: 6},
	}
}
