// Package rules turns service level objectives into Prometheus recording and
// alerting rules. It is pure: the same Input gives the same Rules.
//
// docs/reference/alerts.md explains the formulae; every alert has a runbook under
// docs/runbooks.
package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/slo"
)

// Rules are the generated groups, valid by Prometheus's own parser.
type Rules struct {
	Groups rulefmt.RuleGroups
	// comments hold, by group name, what a reader of the file should know.
	comments map[string][]string
}

// slowInterval is how often the rules over days are evaluated. It is below
// half of Prometheus's lookback of five minutes, so that a reader always finds
// a recorded value, one missed evaluation included.
const slowInterval = 2 * time.Minute

// burnInterval is how often the windows of the pages on a burn rate are
// evaluated. They are hours long and dear to read, and minutes do not matter to
// them; what must be quick is in other groups.
const burnInterval = time.Minute

// Generate makes the rules. It fails, naming the objective and the remedy,
// when an objective cannot have an alert that pages.
func Generate(in Input) (Rules, error) {
	scope, err := in.Scope.check()
	if err := errors.Join(err, in.check()); err != nil {
		return Rules{}, err
	}
	r := Rules{comments: map[string][]string{}}
	if err := r.addObjectives(in); err != nil {
		return Rules{}, err
	}
	general, err := in.generalGroups()
	if err != nil {
		return Rules{}, fmt.Errorf("reading the form of the rules, which is a mistake of this program: %w", err)
	}
	for _, g := range general {
		r.add(g.Name, time.Duration(g.Interval), in.complete(g.Rules))
	}
	if err := errors.Join(r.restrict(scope), r.validate()); err != nil {
		return Rules{}, fmt.Errorf("generated rules are invalid, which is a mistake of this program: %w", err)
	}
	return r, nil
}

// addObjectives adds the rules of the SLOs: those that page, and those over days.
func (r *Rules) addObjectives(in Input) error {
	objectives, err := in.objectives()
	if err != nil || len(objectives) == 0 {
		return err
	}
	fast := windows(objectives, slo.Page)
	fast = append(fast, lasting, time.Hour)
	slices.Sort(fast)
	fast = slices.Compact(fast)
	slow := slices.DeleteFunc(windows(objectives, slo.Ticket), func(w time.Duration) bool { return slices.Contains(fast, w) })
	pages := slices.Concat(recordBudgets(objectives), recordWindows(fast), []rule{recordPageBurn(objectives), fastBurn(objectives)})
	tickets := append(recordWindows(slow), in.recordBudget())
	if len(fits(objectives, slo.Ticket)) > 0 {
		tickets = append(tickets, slowBurn(objectives))
	}
	tickets = append(tickets, in.budgetExhausted(), in.noSamples())
	r.add("synthetic-slo-rates", slowInterval, in.complete(recordRates()))
	r.add("synthetic-slo", burnInterval, in.complete(pages), comments(objectives, slo.Page)...)
	r.add("synthetic-slo-sums", sumInterval, in.complete(recordSums()))
	r.add("synthetic-slo-slow", slowInterval, in.complete(tickets), comments(objectives, slo.Ticket)...)
	return nil
}

// maxRules is how many rules a group may have: Mimir's limit. What a ruler records
// in one group, it reads in the next at most one interval later.
const maxRules = 20

func (r *Rules) add(name string, interval time.Duration, rules []rulefmt.Rule, comments ...string) {
	r.comments[name] = comments
	part := name
	for chunk := range slices.Chunk(rules, maxRules) {
		r.Groups.Groups = append(r.Groups.Groups, rulefmt.RuleGroup{Name: part, Interval: model.Duration(interval), Rules: chunk})
		part += "-more"
	}
}

// record makes a recording rule.
func record(name, expr string) rule { return rule{Record: name, Expr: expr} }
