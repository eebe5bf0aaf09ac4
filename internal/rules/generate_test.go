package rules_test

import (
	"testing"
	"time"

	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

func TestGenerateRefuses(t *testing.T) {
	good := usual().Jobs
	for _, tt := range []struct {
		name string
		in   rules.Input
		want string
	}{
		{"no jobs", rules.Input{}, `no traffic: add an entry under "traffic", because the windows of alerts depend on its rate`},
		{
			"covers nothing", rules.Input{Jobs: good, SLOs: []slo.Objective{{Name: "x", Objective: 0.99, Window: day, Targets: []string{"b"}}}},
			`slos[0] "x": covers none of the 1 probed pairs of target and workload: correct its targets and workloads, or add traffic`,
		},
		{
			"no page is left", rules.Input{Jobs: good, SLOs: []slo.Objective{{Name: "x", Objective: 0.99, Window: day}}},
			`slo "x", target "a", workload "chat": no page is possible: ` +
				`the tier over 1h: spending 2 % of a budget of 1d in 1h is no faster than allowed; use a window of at least 2d2h; ` +
				`the tier over 6h: spending 5 % of a budget of 1d in 6h is no faster than allowed; use a window of at least 5d`,
		},
		{
			"too few turns for one job of two",
			rules.Input{
				Jobs: append(good, rules.Job{Target: "b", Workload: "chat", TurnsPerMinute: 0.01, ConversationsPerMinute: 0.01}),
				SLOs: []slo.Objective{{Name: "x", SLI: slo.Availability, Objective: 0.999, Window: 30 * day}},
			},
			`slo "x", target "b", workload "chat": no page is possible: ` +
				`the tier over 1h: at 0.01 turns per minute the budget of 30d is only 0.432 bad turns, and an alert needs 5; raise the rate or lower the objective; ` +
				`the tier over 6h: at 0.01 turns per minute the budget of 30d is only 0.432 bad turns, and an alert needs 5; raise the rate or lower the objective`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rules.Generate(tt.in)
			if err == nil {
				t.Fatal("got no error")
			}
			if err.Error() != tt.want {
				t.Errorf("error is\n%s\nwant\n%s", err, tt.want)
			}
		})
	}
}

// TestGenerateQuotes uses names with characters that are special in PromQL, regular expressions, templates
// or YAML.
func TestGenerateQuotes(t *testing.T) {
	const nasty = "a\"b\\c|d.*{{ .Labels }} #'\n: é"
	in := usual()
	in.Jobs = append(in.Jobs,
		rules.Job{Target: nasty, Workload: nasty},
		rules.Job{Target: nasty, Workload: "chat", TurnsPerMinute: 0.5})
	in.SLOs = append(in.SLOs, slo.Objective{Name: nasty, SLI: slo.Availability, Objective: 0.99, Window: 30 * day})
	h := newHouse(t, in, 1)
	h.run(3 * time.Minute)
	if got := h.firing(); len(got) > 0 {
		t.Errorf("after three healthy minutes %q fire", got)
	}
}

// TestIncidentsAreOneGroup: incidents, and the alerts that they hold back, are in one group. A second group would be
// evaluated at another time, so that a ticket could come before the incident that explains it.
func TestIncidentsAreOneGroup(t *testing.T) {
	in := withServices()
	in.Jobs[0].ServerMetrics = true
	for _, g := range generate(t, in).Groups.Groups {
		if g.Name == "synthetic-incident-more" {
			t.Errorf("the group of incidents has %d rules too many", len(g.Rules))
		}
	}
}
