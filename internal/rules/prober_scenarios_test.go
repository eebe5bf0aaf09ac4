package rules_test

import (
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// proberScenarios are about the probers themselves.
func proberScenarios() []scenario {
	starving := func(i int, lag time.Duration) func(*house) {
		return func(h *house) { h.probers[i].late = lag }
	}
	return []scenario{
		{name: "the only prober is starved while turns fail", steps: []step{
			healthy,
			{do: starving(0, 2*time.Second), after: 3 * time.Minute, want: []string{rules.AlertProberStarved + " prober-0"}},
			{do: behaving(failing(probe.ConnectError)), after: 2 * time.Minute, want: []string{
				rules.AlertProberStarved + " prober-0", rules.AlertTargetDown + " a chat",
			}},
			{do: behaving(ok), after: 12 * time.Minute, want: []string{rules.AlertProberStarved + " prober-0"}},
			{do: starving(0, 0), after: 12 * time.Minute},
		}},
		{name: "a prober that is late for latencies alone sees an outage", steps: []step{
			healthy,
			// Good latencies are good in spite of the lag.
			{do: starving(0, 300*time.Millisecond), after: 30 * time.Minute},
			{do: behaving(failing(probe.ConnectError)), after: 10 * time.Minute, want: []string{rules.AlertTargetDown + " a chat"}},
		}},
		{name: "one prober of two is lost, and the other sees the outage", replicas: 2, steps: []step{
			healthy,
			{do: func(h *house) { h.probers[1].down = true }, after: 2 * time.Hour},
			{do: behaving(failing(probe.ConnectError)), after: 10 * time.Minute, want: []string{rules.AlertTargetDown + " a chat"}},
			{do: behaving(ok), after: 20 * time.Minute},
			{do: func(h *house) { h.probers[1].down = false }, after: 2 * time.Hour},
		}},
		{name: "nothing can be sent", steps: []step{
			healthy,
			{do: behaving(failing(probe.NotSent)), after: 40 * time.Minute, want: []string{
				rules.AlertProberStarved + " prober-0", rules.AlertTargetNoSamples + " a chat",
			}},
			{do: behaving(ok), after: 12 * time.Minute},
		}},
		{name: "most turns are not sent, and the rest refused", steps: []step{
			healthy,
			{do: behaving(oneIn(12, failing(probe.HTTP429), failing(probe.NotSent))), after: 30 * time.Minute, want: []string{
				rules.AlertProberStarved + " prober-0", rules.AlertTargetBusy + " a chat",
			}},
		}},
	}
}

// ruleScenarios are about rules and probers with different configurations.
func ruleScenarios() []scenario {
	apply := func(changed ...slo.Objective) func(*house) {
		return all(func(p *prober) {
			jobs := slices.Clone(p.configured)
			for i := range jobs {
				jobs[i].Objectives = changed
			}
			p.apply(jobs)
		})
	}
	threshold, window := ttft, ttft
	threshold.Threshold *= 2
	window.Window /= 2
	outdated := []string{rules.AlertRulesOutdated + " ttft prober-0"}
	return []scenario{
		{name: "the prober has another threshold, and then another window", steps: []step{
			healthy,
			{do: apply(threshold), after: 10 * time.Minute},
			{after: 10 * time.Minute, want: outdated},
			{do: apply(ttft), after: time.Minute},
			{do: apply(window), after: 20 * time.Minute, want: outdated},
		}},
		{name: "the prober has one more objective", steps: []step{
			{do: apply(ttft, available), after: 20 * time.Minute, want: []string{rules.AlertRulesOutdated + " available"}},
		}},
		{name: "the prober has one more target", steps: []step{
			{do: all(func(p *prober) { p.apply(sinkJobs(rules.Input{Jobs: []rules.Job{{Target: "new", Workload: "chat"}}})) }), after: 20 * time.Minute, want: []string{rules.AlertTargetNoSamples + " new chat"}},
		}},
	}
}
