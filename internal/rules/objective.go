package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/metrics"
	"synthetic/internal/probe"
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

// fit is the plan of a group of jobs.
type fit struct {
	group
	plan slo.Plan
}

// objective plans an SLO for each of its jobs.
func (in Input) objective(o slo.Objective) (objective, error) {
	f := objective{Objective: o, in: in}
	plan := func(j Job) slo.Plan { return o.BurnPlan(j.judgedPerMinute(o)) }
	for _, g := range partition(in.covered(o), func(j Job) string { return planKey(plan(j)) }) {
		p := plan(g.jobs[0])
		if !p.Pages() {
			return f, fmt.Errorf("slo %q for target %q, workload %q: no alert that pages is left (%s): raise the traffic rate, lower the objective %v if it is close to 1 or raise it if it is close to 0, or use a longer window than %s",
				o.Name, g.jobs[0].Target, g.jobs[0].Workload, strings.Join(p.Dropped, "; "), o.Objective, slo.Short(o.Window))
		}
		f.fits = append(f.fits, fit{g, p})
	}
	return f, nil
}

// planKey is equal for plans that fire on the same numbers and say the same.
func planKey(p slo.Plan) string {
	var b strings.Builder
	for _, t := range p.Tiers {
		fmt.Fprintf(&b, "%s %v %v %v|", t.Severity, t.Burn, t.Long, t.Short)
	}
	return b.String() + fmt.Sprint(len(p.Dropped))
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
func (f objective) fastRules() []rulefmt.Rule {
	fast := f.fastWindows()
	rules := f.recordWindows(fast)
	rules = append(rules, record(RecordBurnRate,
		fmt.Sprintf("%s / %s", f.self().on(RecordErrorRatio(time.Hour)), num(f.Budget()))))
	return append(rules, f.burnAlerts(slo.Page)...)
}

// fastWindows are the windows of the pages, and the hour of the burn rate.
func (f objective) fastWindows() []time.Duration {
	fast := append(f.windows(slo.Page), time.Hour)
	slices.Sort(fast)
	return slices.Compact(fast)
}

// slowRules record the remaining windows and the budget, and raise tickets.
func (f objective) slowRules() []rulefmt.Rule {
	fast := f.fastWindows()
	slow := slices.DeleteFunc(f.windows(slo.Ticket), func(w time.Duration) bool {
		return slices.Contains(fast, w)
	})
	rules := append(f.recordWindows(slow), f.recordBudget()...)
	rules = append(rules, f.burnAlerts(slo.Ticket)...)
	return append(rules, f.noSamples()...)
}

// comments say how the windows differ from the usual ones.
func (f objective) comments() []string {
	lines := []string{fmt.Sprintf("SLO %s: %s", f.Name, f.statement())}
	for _, fit := range f.fits {
		for _, note := range fit.notes() {
			lines = append(lines, fit.who()+note)
		}
	}
	return lines
}

// who names the jobs of a fit, unless it holds for all.
func (f fit) who() string {
	if len(f.matchers) == 0 {
		return ""
	}
	return "For " + strings.Join(f.matchers, ", ") + ": "
}

// notes are how a plan differs from the usual one.
func (f fit) notes() []string {
	var notes []string
	for _, t := range f.plan.Tiers {
		for _, n := range t.Notes {
			notes = append(notes, fmt.Sprintf("%s tier at %s times: %s.", t.Severity, num(t.Burn), n))
		}
	}
	for _, d := range f.plan.Dropped {
		notes = append(notes, "Left out: "+d+".")
	}
	return notes
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
