package rules_test

import (
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/serverside"
)

// saying lets all probers read the same figures of a server.
func saying(r serverside.Reading) func(*house) {
	return all(func(p *prober) { p.server = func() serverside.Reading { return r } })
}

// serverScenarios test the alert on server metrics.
func serverScenarios() []scenario {
	usually := step{do: saying(serverside.Reading{Complete: true}), after: time.Hour}
	return []scenario{
		{name: "the server's metrics cannot be read", steps: []step{
			usually,
			{do: saying(serverside.Reading{}), after: time.Hour, want: []string{rules.AlertServerMetricsUnreadable + " a"}},
			{do: saying(serverside.Reading{Complete: true}), after: 40 * time.Minute},
		}},
		{name: "one of two probers cannot read it", replicas: 2, steps: []step{
			usually,
			{do: func(h *house) { h.probers[1].server = func() serverside.Reading { return serverside.Reading{} } }, after: time.Hour},
		}},
	}
}
