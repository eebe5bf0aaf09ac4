// Package rules turns service level objectives into Prometheus recording and
// alerting rules. It is pure: the same Input gives the same Rules.
//
// docs/reference/alerts.md explains the formulae; every alert has a runbook under
// docs/runbooks.
package rules

import (
	"fmt"
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
	if err := in.check(); err != nil {
		return Rules{}, err
	}
	r := Rules{comments: map[string][]string{}}
	for _, o := range in.SLOs {
		f, err := in.objective(o)
		if err != nil {
			return Rules{}, err
		}
		r.add("synthetic-slo-"+o.Name, burnInterval, in.complete(f.fastRules()), f.comments(slo.Page)...)
		r.add("synthetic-slo-"+o.Name+"-slow", slowInterval, in.complete(f.slowRules()), f.comments(slo.Ticket)...)
	}
	general, err := in.generalGroups()
	if err != nil {
		return Rules{}, fmt.Errorf("reading the form of the rules, which is a mistake of this program: %w", err)
	}
	for _, g := range general {
		r.add(g.Name, time.Duration(g.Interval), in.complete(g.Rules))
	}
	if err := r.validate(); err != nil {
		return Rules{}, fmt.Errorf("generated rules are invalid, which is a mistake of this program: %w", err)
	}
	return r, nil
}

func (r *Rules) add(name string, interval time.Duration, rules []rulefmt.Rule, comments ...string) {
	r.Groups.Groups = append(r.Groups.Groups, rulefmt.RuleGroup{
		Name: name, Interval: model.Duration(interval), Rules: rules,
	})
	if len(comments) > 0 {
		r.comments[name] = comments
	}
}

// record makes a recording rule.
func record(name, expr string) rule { return rule{Record: name, Expr: expr} }
