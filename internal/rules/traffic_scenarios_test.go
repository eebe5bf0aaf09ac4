package rules_test

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
)

// rare is one turn in ten minutes.
var rare = rules.Job{Target: "a", Workload: "chat", TurnsPerMinute: 0.1, ConversationsPerMinute: 0.1, TurnTimeout: 2 * time.Minute}

// once lets exactly the next turn go another way.
func once(bad behaviour) func(*house) {
	return all(func(p *prober) {
		used := false
		p.behave = func(n int, kind probe.TurnKind) probe.Result {
			if used {
				return ok(n, kind)
			}
			used = true
			return bad(n, kind)
		}
	})
}

// trafficScenarios test the conditions for a few turns.
func trafficScenarios() []scenario {
	down := rules.AlertTargetDown + " a chat"
	return []scenario{
		{name: "one bad turn among many", steps: []step{
			healthy,
			{do: once(slow), after: time.Minute},
			{after: time.Hour},
		}},
		{name: "one bad turn of a rare probe", in: withJobs(rare), steps: []step{
			{after: 6 * time.Hour},
			{do: once(slow), after: 15 * time.Minute},
			{after: 6 * time.Hour},
		}},
		{name: "an outage seen by a rare probe", in: withJobs(rare), steps: []step{
			{after: day},
			{do: behaving(failing(probe.ConnectError)), after: 10 * time.Minute},
			{after: 2 * time.Hour, want: []string{down}},
			{do: behaving(ok), after: 8 * time.Hour},
		}},
		// A hung deployment ends few turns; a rule that wants many turns would
		// be blind just then.
		{name: "a fault that leaves few turns", steps: []step{
			{after: 8 * time.Hour},
			{
				do: all(func(p *prober) {
					p.behave, p.share = failing(probe.TimeoutFirstToken), 0.25
				}),
				after: 10 * time.Minute, want: []string{down},
			},
			{after: 40 * time.Minute, want: []string{down}},
		}},
		{name: "closed-loop traffic of unknown rate", in: withJobs(rules.Job{Target: "a", Workload: "chat"}), steps: []step{
			{do: all(func(p *prober) { p.jobs[0].ConversationsPerMinute, p.jobs[0].TurnsPerMinute = 2, 6 }), after: 2 * time.Hour},
			{do: behaving(slow), after: 20 * time.Minute, want: []string{fastBurn}},
		}},
		{name: "two jobs at different rates", in: withJobs(
			rules.Job{Target: "a", Workload: "chat", TurnsPerMinute: 12, ConversationsPerMinute: 4, TurnTimeout: time.Minute},
			rules.Job{Target: "b", Workload: "chat", TurnsPerMinute: 0.3, ConversationsPerMinute: 0.1, TurnTimeout: time.Minute},
		), steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(slow), after: 10 * time.Minute, want: []string{fastBurn}},
			{after: time.Hour, want: []string{
				fastBurn, rules.AlertSLOFastBurn + " b chat ttft",
			}},
		}},
	}
}
