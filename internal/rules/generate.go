// Package rules generates Prometheus recording and alerting rules from service level
// objectives. It is pure: the same Input gives the same Rules.
//
// docs/reference/alerts.md explains the formulae; every alert has a runbook in docs/runbooks.
package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/slo"
)

// Rules are generated groups that Prometheus's own parser accepts.
type Rules struct {
	Groups rulefmt.RuleGroups
}

// slowInterval is the interval of rules over days. It is less than half of Prometheus's lookback of
// five minutes, so that queries find a recorded value even after a missed evaluation.
const slowInterval = 2 * time.Minute

// burnInterval is the interval of the burn rates of pages. A page waits for its burn rate, so it is as short as the
// interval that the documentation recommends for the groups without one.
const burnInterval = 15 * time.Second

// Generate returns the rules. If an objective cannot have a page, the error names it and the remedy.
func Generate(in Input) (Rules, error) {
	if err := in.check(); err != nil {
		return Rules{}, err
	}
	objectives, err := in.objectives()
	if err != nil {
		return Rules{}, err
	}
	var r Rules
	if len(objectives) > 0 {
		r.addObjectives(in, objectives)
	}
	general, err := in.generalGroups(objectives)
	if err != nil {
		return Rules{}, fmt.Errorf("reading groups.yml, which is a mistake of this program: %w", err)
	}
	for _, g := range general {
		r.add(g.Name, time.Duration(g.Interval), in.complete(g.Rules))
	}
	if len(objectives) > 0 {
		r.addBurnPages(in, objectives)
	}
	if err := errors.Join(r.keepLabels(in), r.validate()); err != nil {
		return Rules{}, fmt.Errorf("generated rules are invalid, which is a mistake of this program: %w", err)
	}
	return r, nil
}

func (r *Rules) addObjectives(in Input, objectives []objective) {
	fast := windows(objectives, slo.Page)
	fast = append(fast, recentWindow)
	slices.Sort(fast)
	fast = slices.Compact(fast)
	slow := slices.DeleteFunc(windows(objectives, slo.Ticket), func(w time.Duration) bool { return slices.Contains(fast, w) })
	burns := slices.Concat(recordBudgets(objectives), recordWindows(fast))
	tickets := append(recordWindows(slow), in.recordBudget())
	if len(fits(objectives, slo.Ticket)) > 0 {
		tickets = append(tickets, slowBurn(objectives))
	}
	tickets = append(tickets, in.noSamples())
	r.add("synthetic-slo-rates", slowInterval, in.complete(recordRates()))
	r.add("synthetic-slo", burnInterval, in.complete(burns))
	r.add("synthetic-slo-sums", sumInterval, in.complete(recordSums()))
	r.add("synthetic-slo-slow", slowInterval, in.complete(tickets))
}

// addBurnPages adds the pages about burn rates in a group of their own. They read the incidents, which read the burn
// rates. In one group with the burn rates, each page would come an interval later. The hash of a group's name decides
// when it is evaluated within the interval: in a pager with the default interval, this one 1.3 s after the incidents.
func (r *Rules) addBurnPages(in Input, objectives []objective) {
	pages := append(pageBurnRules(objectives), in.fastBurn(objectives, in.targetCause()+fallbackCause()))
	r.add("synthetic-burn-pages", 0, in.complete(pages))
}

// maxRules is the largest number of rules in a group: Mimir's default limit. A group sees the records of
// another group at most one interval later.
const maxRules = 20

func (r *Rules) add(name string, interval time.Duration, rules []rulefmt.Rule) {
	part := name
	for chunk := range slices.Chunk(rules, maxRules) {
		r.Groups.Groups = append(r.Groups.Groups, rulefmt.RuleGroup{Name: part, Interval: model.Duration(interval), Rules: chunk})
		part += "-more"
	}
}

func record(name, expr string) rule { return rule{Record: name, Expr: expr} }

type ruleGroup struct {
	Name     string
	Interval model.Duration
	Rules    []rule
}

// rule is a recording rule, or an alert without its links.
type rule struct {
	Record, Alert string
	Severity      slo.Severity
	Expr          string
	// For is how long the expression must hold before the alert fires, Keep how long the alert
	// keeps firing afterwards.
	For                  model.Duration
	Keep                 model.Duration `yaml:"keep_firing_for"`
	Labels               map[string]string
	Summary, Description string
	// Dashboard is the UID of the linked dashboard.
	Dashboard string
}

func (in Input) complete(rules []rule) []rulefmt.Rule {
	out := make([]rulefmt.Rule, len(rules))
	for i, r := range rules {
		out[i] = rulefmt.Rule{Record: r.Record, Alert: r.Alert, Expr: r.Expr, For: r.For, KeepFiringFor: r.Keep, Labels: r.Labels}
		if r.Alert != "" {
			out[i].Labels = map[string]string{"severity": string(r.Severity)}
			maps.Copy(out[i].Labels, r.Labels)
			out[i].Annotations = in.annotations(r)
		}
	}
	return out
}

func (in Input) annotations(r rule) map[string]string {
	out := r.fields()
	out[annotationSummary], out[annotationDescription] = r.Summary, r.Description
	if in.RunbookURL != "" {
		out[annotationRunbook] = strings.TrimSuffix(in.RunbookURL, "/") + "/" + r.Alert + ".md"
	}
	if in.DashboardURL != "" {
		out[annotationDashboard] = in.dashboard(r.Dashboard)
	}
	return out
}

// dashboard links to a dashboard. The detail dashboard opens on the alert's target, and on its
// workload if it has one.
func (in Input) dashboard(uid string) string {
	url := strings.TrimSuffix(in.DashboardURL, "/")
	if !strings.HasSuffix(url, "-") { // which ends with a prefix of the UIDs
		url += "/"
	}
	url += uid
	if uid == TargetUID {
		url += "?var-target={{ $labels.target | urlquery }}{{ with $labels.workload }}&var-workload={{ . | urlquery }}{{ end }}"
	}
	return url
}
