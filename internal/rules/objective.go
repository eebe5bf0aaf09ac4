package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// objective is one SLO with everything its rules need.
type objective struct {
	slo.Objective
	in Input
	// fits are the alerts' windows by group of jobs: jobs that take turns at
	// different rates may need different windows.
	fits []fit
}

// objective plans an SLO for each of its jobs.
func (in Input) objective(o slo.Objective) (objective, error) {
	f := objective{Objective: o, in: in}
	plan := func(j Job) slo.Plan { return o.BurnPlan(j.judgedPerMinute(o)) }
	for _, g := range partition(in.covered(o), func(j Job) string { return planKey(plan(j)) }) {
		p := plan(g.Jobs[0])
		if !p.Pages() {
			return f, fmt.Errorf("slo %q, target %q, workload %q: no alert that pages is left: %s",
				o.Name, g.Jobs[0].Target, g.Jobs[0].Workload, strings.Join(dropped(p, slo.Page), "; "))
		}
		f.fits = append(f.fits, fit{g, p})
	}
	return f, nil
}

// judgedPerMinute is the expected rate of the turns that an objective judges;
// 0 when it is unknown.
func (j Job) judgedPerMinute(o slo.Objective) float64 {
	switch {
	case len(o.Turns) != 1:
		return j.TurnsPerMinute
	case o.Turns[0] == probe.First:
		return j.ConversationsPerMinute
	case j.ConversationsPerMinute > 0:
		return max(j.TurnsPerMinute-j.ConversationsPerMinute, 0)
	}
	return 0
}

// labels are what the SLO's series are aggregated to. The kind of turn is kept
// where there is only one, so that nobody takes it for all turns.
func (f objective) labels() []string {
	by := append(perJob(), metrics.LabelSLO)
	if len(f.Turns) == 1 {
		by = append(by, metrics.LabelTurn)
	}
	return by
}

// turnLabels are those of its labels that single turns have.
func (f objective) turnLabels() []string {
	return slices.DeleteFunc(f.labels(), func(l string) bool { return l == metrics.LabelSLO })
}

// self matches the SLO.
func (f objective) self() matchers { return matchers{equals(metrics.LabelSLO, f.Name)} }

// windows lists the windows of the tiers of a severity, in order.
func (f objective) windows(s slo.Severity) []time.Duration {
	var all []time.Duration
	for _, fit := range f.fits {
		for _, t := range fit.plan.Tiers {
			if t.Severity == s {
				all = append(all, t.Short, t.Long)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fastRules record the windows of the pages, and page.
func (f objective) fastRules() []rule {
	fast := f.fastWindows()
	rules := f.recordWindows(fast)
	rules = append(rules, record(RecordBurnRate,
		fmt.Sprintf("%s / %s", f.self().on(RecordErrorRatio(time.Hour)), num(f.Budget()))))
	return f.labelled(append(rules, f.burnAlerts(slo.Page)...))
}

// labelled puts the SLO's name on each rule, where its series have it already:
// rules of several SLOs share their names, and a linter cannot tell from their
// expressions that they never meet.
func (f objective) labelled(rules []rule) []rule {
	for i := range rules {
		rules[i].Labels = map[string]string{metrics.LabelSLO: f.Name}
	}
	return rules
}

// fastWindows are the windows of the pages, and the hour of the burn rate.
func (f objective) fastWindows() []time.Duration {
	fast := append(f.windows(slo.Page), lasting, time.Hour)
	slices.Sort(fast)
	return slices.Compact(fast)
}

// slowRules record the remaining windows and the budget, and raise tickets.
func (f objective) slowRules() []rule {
	fast := f.fastWindows()
	slow := slices.DeleteFunc(f.windows(slo.Ticket), func(w time.Duration) bool {
		return slices.Contains(fast, w)
	})
	rules := append(f.recordWindows(slow), f.recordBudget()...)
	rules = append(rules, f.burnAlerts(slo.Ticket)...)
	rules = append(rules, f.budgetExhausted())
	return f.labelled(append(rules, f.noSamples()...))
}

// comments say what the SLO is, and how its windows differ from the usual.
func (f objective) comments(s slo.Severity) []string {
	lines := []string{fmt.Sprintf("SLO %s, %ss: %s.", f.Name, s, f.statement())}
	for _, fit := range f.fits {
		for _, note := range fit.notes(s) {
			lines = append(lines, fit.who()+note)
		}
	}
	return lines
}

// statement is the SLO in words.
func (f objective) statement() string {
	share := num(f.Objective.Objective*100) + " % of turns"
	if len(f.Turns) == 1 {
		share = num(f.Objective.Objective*100) + " % of " + string(f.Turns[0]) + " turns"
	}
	if f.SLI == slo.Availability {
		return fmt.Sprintf("%s succeed, over %s", share, slo.Short(f.Window))
	}
	return fmt.Sprintf("%s have %s <= %ss, over %s", share, f.SLI, num(f.Threshold.Seconds()), slo.Short(f.Window))
}
