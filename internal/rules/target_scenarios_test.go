package rules_test

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

// odd turns succeed with an answer that is odd for a reason.
func odd(why answers.Defect) func(int, probe.TurnKind) probe.Result {
	return with(ok, func(r *probe.Result) { r.Defect = why })
}

// targetScenarios are about faults of the deployment.
func targetScenarios() []scenario {
	const (
		down  = rules.AlertTargetDown + " a chat"
		busy  = rules.AlertTargetBusy + " a chat"
		usage = rules.AlertUsageMissing + " a chat"

		buffers = rules.AlertProxyBuffering + " a chat"
	)
	pace := slo.Objective{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day}
	buffered := with(ok, func(r *probe.Result) { r.Buffered, r.TPOT, r.Gaps = true, probe.Opt[time.Duration]{}, nil })
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
					if n++; n <= 4 {
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
		{name: "half of the turns failing is not down", steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(oneIn(2, failing(probe.HTTP5xx), ok)), after: 30 * time.Minute, want: []string{fastBurn}},
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
		{name: "a restart amid an outage, and nothing can be sent", steps: []step{
			healthy,
			{do: behaving(failing(probe.ConnectError)), after: 3 * time.Minute, want: []string{down}},
			{do: func(h *house) {
				h.probers[0].restart()
				h.probers[0].behave = failing(probe.NotSent)
			}, after: 7 * time.Minute, want: []string{rules.AlertProberStarved + " prober-0", down}},
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
		{name: "a proxy begins to buffer", in: withSLOs(ttft, pace), steps: []step{
			healthy,
			{do: behaving(buffered), after: 5 * time.Minute, want: []string{buffers}},
			{after: 90 * time.Minute, want: []string{buffers, rules.AlertSLONoSamples + " a chat tpot"}},
			{do: behaving(ok), after: 45 * time.Minute},
		}},
		{name: "usage goes missing", steps: []step{
			healthy,
			{do: behaving(with(ok, func(r *probe.Result) { r.UsageMissing = true })), after: 2 * time.Hour, want: []string{usage}},
			{do: behaving(ok), after: time.Hour},
		}},
		{name: "answers become rubbish", steps: []step{
			healthy,
			{do: behaving(oneIn(3, odd(answers.Repetition), ok)), after: 20 * time.Minute, want: []string{rules.AlertAnswersGarbled + " a chat"}},
			{do: behaving(ok), after: 45 * time.Minute},
			{do: behaving(oneIn(40, odd(answers.Length), ok)), after: 2 * time.Hour}, // some are odd anywhere
		}},
		{name: "another model answers", steps: []step{
			healthy,
			{do: behaving(odd(answers.Model)), after: 10 * time.Minute, want: []string{rules.AlertAnswersChanged + " a"}},
			{do: behaving(ok), after: 45 * time.Minute},
		}},
		{name: "some turns without usage are no alert", steps: []step{
			{do: behaving(oneIn(4, with(ok, func(r *probe.Result) { r.UsageMissing = true }), ok)), after: 3 * time.Hour},
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
