package rules_test

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// sampleScenarios are about missing data, which must never look like a healthy target.
func sampleScenarios() []scenario {
	const (
		gone     = rules.AlertProberSilent
		silent   = rules.AlertProberSilent + " a chat"
		noSample = rules.AlertTargetNoSamples + " a chat"
	)
	pace := slo.Objective{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day}
	oneToken := with(ok, func(r *probe.Result) { r.TPOT = probe.Opt[time.Duration]{} })
	dies := all(func(p *prober) { p.down = true })
	returns := all(func(p *prober) { p.down = false; p.restart() })
	return []scenario{
		{name: "the prober dies and comes back", steps: []step{
			healthy,
			{do: dies, after: 4 * time.Minute},
			{after: 3 * time.Minute, want: []string{gone}},
			{after: 3 * time.Hour, want: []string{gone}},
			{do: returns, after: 9 * time.Minute, want: []string{gone}},
			{after: 2 * time.Minute},
		}},
		{name: "one of two replicas dies", replicas: 2, steps: []step{
			healthy,
			{do: func(h *house) { h.probers[1].down = true }, after: time.Hour},
		}},
		{name: "the prober of one target of two dies", in: withJobs(
			rules.Job{Target: "a", Workload: "chat", TurnsPerMinute: 4, ConversationsPerMinute: 4},
			rules.Job{Target: "b", Workload: "chat", TurnsPerMinute: 4, ConversationsPerMinute: 4},
		), replicas: 2, steps: []step{
			{do: func(h *house) {
				for i, p := range h.probers {
					p.share, p.jobs = 1, p.jobs[i:i+1]
					p.configured = p.configured[i : i+1]
					p.restart()
				}
			}, after: 2 * time.Hour},
			{do: func(h *house) { h.probers[1].down = true }, after: 23 * time.Minute, want: []string{rules.AlertTargetNoSamples + " b chat"}},
			{do: func(h *house) { h.probers[1].down = false }, after: 13 * time.Minute},
		}},
		{name: "a prober that never ended a turn", steps: []step{
			{do: all(func(p *prober) { p.silent = true }), after: 4 * time.Minute},
			{after: 4 * time.Minute, want: []string{noSample}},
			{do: all(func(p *prober) { p.silent = false }), after: 14 * time.Minute},
		}},
		{name: "a job is dropped from the configuration", steps: []step{
			healthy,
			{do: all(func(p *prober) {
				p.jobs = nil
				p.forget()
			}), after: 25 * time.Minute},
		}},
		{name: "nothing is judged", in: withSLOs(pace), steps: []step{
			{do: behaving(oneToken), after: 30 * time.Minute, want: []string{rules.AlertSLONoSamples + " a chat tpot", noSample}},
			{do: behaving(ok), after: 13 * time.Minute},
		}},
		{name: "one objective of two is not judged", in: withSLOs(ttft, pace), steps: []step{
			healthy,
			{do: behaving(oneToken), after: 90 * time.Minute, want: []string{rules.AlertSLONoSamples + " a chat tpot"}},
			{do: behaving(ok), after: 5 * time.Minute},
		}},
		// The window is 90 minutes: an hour, and twice the threshold.
		{name: "without objectives turns are samples", in: withSLOs(), steps: []step{
			healthy,
			{do: all(func(p *prober) { p.silent = true }), after: 10 * time.Minute, want: []string{silent}},
		}},
		{name: "all turns are canceled", steps: []step{
			healthy,
			{do: behaving(failing(probe.Canceled)), after: 10 * time.Minute, want: []string{silent}},
		}},
	}
}
