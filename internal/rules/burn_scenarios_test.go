package rules_test

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

const (
	fastBurn = rules.AlertSLOFastBurn + " a chat ttft"
	slowBurn = rules.AlertSLOSlowBurn + " a chat ttft"
)

// burnScenarios test burn rates. The histories are shorter than the three days of the ticket's window, so
// the ticket fires together with a page.
func burnScenarios() []scenario {
	return []scenario{
		{name: "healthy", steps: []step{{after: 3 * day}}},
		{name: "slow first tokens page and resolve", steps: []step{
			{after: 8 * time.Hour},
			// 14.4 % of an hour are 8m38s of slow turns.
			{do: behaving(slow), after: 8 * time.Minute},
			{after: 2 * time.Minute, want: []string{fastBurn}},
			// The windows are still bad, but the good turns since then are many.
			{do: behaving(ok), after: 4 * time.Minute},
			{after: 35 * time.Minute},
		}},
		{name: "a recovery, single bad turns, and the fault again", steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(slow), after: 15 * time.Minute, want: []string{fastBurn}},
			{do: behaving(oneIn(80, slow, ok)), after: 4 * time.Minute},
			{after: 10 * time.Minute},
			{do: behaving(slow), after: 4 * time.Minute, want: []string{fastBurn}},
		}},
		// A tenth of the turns spends little of the availability's budget in this time.
		// The long window is still bad and single turns are bad, but the short window shows
		// that the fault has ended.
		{name: "a fault that fades to a few bad turns", steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(slow), after: 15 * time.Minute, want: []string{fastBurn}},
			{do: behaving(oneIn(20, slow, ok)), after: 25 * time.Minute},
		}},
		{name: "one turn in twelve slow is the slower page", steps: []step{
			{after: 7 * time.Hour},
			{do: behaving(oneIn(12, slow, ok)), after: 3 * time.Hour, want: []string{slowBurn}},
			{after: 3 * time.Hour, want: []string{fastBurn}},
			{do: behaving(ok), after: time.Hour},
		}},
		{name: "one turn in sixty is a ticket and no page", steps: []step{
			{after: 3 * day},
			{do: behaving(oneIn(60, slow, ok)), after: 30 * time.Hour},
			{after: 18 * time.Hour, want: []string{slowBurn}},
			{do: behaving(ok), after: 7 * time.Hour},
		}},
		{name: "turns of one kind keep their label", in: withSLOs(followups), steps: []step{
			healthy,
			{do: behaving(slow), after: 10 * time.Minute, want: []string{
				rules.AlertSLOFastBurn + " a chat followup cached",
			}},
		}},
		{name: "a low objective pages over a longer window", in: withSLOs(half), steps: []step{
			{after: 14 * time.Hour},
			{do: behaving(slow), after: 5 * time.Hour},
			{after: 2 * time.Hour, want: []string{rules.AlertSLOFastBurn + " a chat half"}},
		}},
		{name: "failed turns page for the objective of availability alone", in: withSLOs(ttft, available), steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(oneIn(2, failing(probe.ErrorEvent), ok)), after: 30 * time.Minute, want: []string{
				rules.AlertSLOFastBurn + " a chat available",
			}},
		}},
		{name: "a fault again after the traffic has become rare", steps: []step{
			{after: 30 * time.Minute},
			{do: behaving(slow), after: 15 * time.Minute, want: []string{fastBurn}},
			{do: behaving(ok), after: 4 * time.Minute},
			{do: func(h *house) {
				behaving(slow)(h)
				h.probers[0].share = 0.05
			}, after: 30 * time.Minute, want: []string{fastBurn}},
		}},
		{name: "failures of followups do not hide slow first turns", in: withSLOs(slowFirst, loose), steps: []step{
			{after: 30 * time.Minute},
			{do: behaving(func(n int, kind probe.TurnKind) probe.Result {
				switch {
				case kind == probe.First && n%2 == 0:
					return slow(n, kind)
				case kind == probe.Followup && n%13 == 0:
					return probe.Result{Outcome: probe.ErrorEvent}
				}
				return ok(n, kind)
			}), after: 40 * time.Minute, want: []string{rules.AlertSLOFastBurn + " a chat first slow-first"}},
		}},
		{name: "three incidents at other hours do not hide a fourth", in: withSLOs(ttft, available), steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(slow), after: time.Hour, want: []string{fastBurn}},
			{do: behaving(ok), after: 30 * time.Hour},
			{do: behaving(slow), after: time.Hour, want: []string{fastBurn}},
			{do: behaving(ok), after: 30 * time.Hour},
			{do: behaving(slow), after: time.Hour, want: []string{fastBurn}},
			{do: behaving(ok), after: 20 * time.Hour},
			{do: behaving(slow), after: 15 * time.Minute, want: []string{fastBurn}},
		}},
		{name: "of two latency objectives the one that is still missed takes over", in: withSLOs(ttft, strict), steps: []step{
			{after: 30 * time.Minute},
			{do: behaving(slow), after: 15 * time.Minute, want: []string{rules.AlertSLOFastBurn + " a chat strict"}},
			{do: behaving(with(slow, func(r *probe.Result) { r.TTFT = probe.Some(1500 * time.Millisecond) })), after: 5 * time.Minute, want: []string{fastBurn}},
		}},
		{name: "of two latency objectives that burn, one pages", in: withSLOs(ttft, strict), steps: []step{
			{after: 8 * time.Hour},
			{do: behaving(slow), after: 30 * time.Minute, want: []string{
				rules.AlertSLOFastBurn + " a chat strict",
			}},
			{do: behaving(ok), after: 75 * time.Minute},
		}},
	}
}

var (
	followups = slo.Objective{
		Name: "cached", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * day,
		Turns: []probe.TurnKind{probe.Followup},
	}
	half      = slo.Objective{Name: "half", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.6, Window: 30 * day}
	slowFirst = slo.Objective{
		Name: "slow-first", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * day, Turns: []probe.TurnKind{probe.First},
	}
	loose     = slo.Objective{Name: "loose", SLI: slo.Availability, Objective: 0.9, Window: 30 * day}
	strict    = slo.Objective{Name: "strict", SLI: slo.TTFT, Threshold: 2 * time.Second, Objective: 0.995, Window: 30 * day}
	available = slo.Objective{Name: "available", SLI: slo.Availability, Objective: 0.995, Window: 30 * day}
)
