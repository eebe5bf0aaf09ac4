package rules_test

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// recalls turns succeed with a result of their reference code.
func recalls(result recall.Result) func(int, probe.TurnKind) probe.Result {
	return with(ok, func(r *probe.Result) { r.Recall = probe.Recall{Result: result, Depth: probe.Some(400)} })
}

// routed turns succeed through a gateway that tried a number of fallbacks.
func routed(fallbacks int) func(int, probe.TurnKind) probe.Result {
	return with(ok, func(r *probe.Result) {
		r.Gateway = probe.Gateway{Fallbacks: probe.Some(fallbacks), Backend: "10.0.0.7:8000"}
	})
}

// targetScenarios are about faults of the deployment.
func targetScenarios() []scenario {
	const (
		down = rules.AlertTargetDown + " a chat"
		busy = rules.AlertTargetBusy + " a chat"
	)
	recalling := withJobs(rules.Job{Target: "a", Workload: "chat", TurnsPerMinute: 8, ConversationsPerMinute: 2, TurnTimeout: 2 * time.Minute, ServerMetrics: true})
	s := []scenario{
		{name: "busy is not down", steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(failing(probe.HTTP429)), after: 30 * time.Minute, want: []string{fastBurn, busy}},
			{do: behaving(ok), after: 45 * time.Minute},
		}},
		{name: "a few failures, and then refusals for load", steps: []step{
			{after: 8 * time.Hour},
			{do: func(h *house) {
				n := 0
				h.probers[0].behave = func(i int, k probe.TurnKind) probe.Result {
					if n++; n <= 2 {
						return failing(probe.ConnectError)(i, k)
					}
					return failing(probe.HTTP429)(i, k)
				}
			}, after: 30 * time.Minute, want: []string{fastBurn, busy}},
		}},
		{name: "wrong answers are not down", in: withSLOs(available), steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(failing(probe.ContentMismatch)), after: 30 * time.Minute, want: []string{
				rules.AlertSLOFastBurn + " a chat available",
			}},
		}},
		{name: "down and up again", steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(failing(probe.ConnectError)), after: time.Minute},
			{after: 2 * time.Minute, want: []string{down}},
			{do: behaving(ok), after: time.Minute, want: []string{down}},
			{after: 2 * time.Minute},
		}},
		{name: "a restart amid an outage", steps: []step{
			healthy,
			{do: behaving(failing(probe.ConnectError)), after: 3 * time.Minute, want: []string{down}},
			{do: all((*prober).restart), after: time.Minute, want: []string{down}},
			{after: 5 * time.Minute, want: []string{down}},
			{do: behaving(ok), after: 4 * time.Minute},
		}},
		{name: "one replica cannot send amid an outage", replicas: 2, steps: []step{
			healthy,
			{do: func(h *house) {
				h.probers[0].behave, h.probers[1].behave = failing(probe.NotSent), failing(probe.HTTP5xx)
			}, after: 5 * time.Minute, want: []string{rules.AlertProberStarved + " prober-0", down}},
		}},
		{name: "two failures after a restart are no outage", steps: []step{
			{do: func(h *house) {
				n := 0
				h.probers[0].behave = func(i int, k probe.TurnKind) probe.Result {
					if n++; n <= 2 {
						return failing(probe.ConnectError)(i, k)
					}
					return ok(i, k)
				}
			}, after: 3 * time.Minute},
			{after: 10 * time.Minute},
		}},
		{name: "wrong answers spend an error budget", in: withSLOs(available, slo.Objective{Name: "correct", SLI: slo.Correct, Objective: 0.99, Window: 30 * day}), steps: []step{
			{do: behaving(recalls(recall.Right)), after: 8 * time.Hour},
			{do: behaving(oneIn(2, recalls(recall.Wrong), recalls(recall.Right))), after: 25 * time.Minute, want: []string{rules.AlertSLOFastBurn + " a chat correct"}},
			{do: behaving(recalls(recall.Right)), after: 45 * time.Minute},
		}},
		{name: "the first answer with a code has text of another conversation", in: recalling, steps: []step{
			{after: 5 * time.Minute},
			{do: func(h *house) {
				first := true
				h.probers[0].behave = func(n int, kind probe.TurnKind) probe.Result {
					if first {
						first = false
						return recalls(recall.Foreign)(n, kind)
					}
					return ok(n, kind)
				}
			}, after: 5 * time.Minute, want: []string{rules.AlertForeignAnswers + " a chat"}},
			{after: 45 * time.Minute},
		}},
	}
	for _, o := range probe.Failures() {
		if o.Busy() || o.WrongAnswer() {
			continue
		}
		s = append(s, scenario{name: "down by " + string(o), in: withSLOs(available), steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(failing(o)), after: 10 * time.Minute, want: []string{down}},
			{do: behaving(ok), after: time.Hour},
		}})
	}
	return s
}
