package backtest

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	promrules "github.com/prometheus/prometheus/rules"
)

// RuleSet is the content of a rule file, in an order in which no rule reads
// what a later one records.
type RuleSet struct {
	// Name is how reports call it.
	Name  string
	rules []*rule
	// pages and tickets are the severities of each; no pages means all that are no
	// tickets.
	pages, tickets []string
}

// rule is one recording or alerting rule.
type rule struct {
	name, expr string
	interval   time.Duration
	records    bool
	labels     map[string]string
	reads      []string
	lookback   time.Duration
	alert      *promrules.AlertingRule // nil for a recording rule
}

// RuleOptions choose what is taken of a rule file.
type RuleOptions struct {
	// Interval is that of the groups which have none of their own.
	Interval time.Duration
	// Severities are those of the alerts that count as pages, Tickets those of the
	// alerts that count as tickets; alerts of others are left out, and so is what
	// only they read. No Severities takes every alert.
	Severities, Tickets []string
}

// LoadRules reads the text of a rule file.
func LoadRules(name string, text []byte, o RuleOptions) (*RuleSet, error) {
	syntax := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.Parse(text, false, model.LegacyValidation, syntax, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return nil, fmt.Errorf("reading the rules %q: %w", name, errors.Join(errs...))
	}
	var all []*rule
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			one, err := newRule(syntax, g, r, o.Interval)
			if err != nil {
				return nil, fmt.Errorf("reading the rules %q, group %q: %w", name, g.Name, err)
			}
			all = append(all, one)
		}
	}
	if err := anyPages(all, o.Severities); err != nil {
		return nil, fmt.Errorf("reading the rules %q: %w", name, err)
	}
	sorted, err := sortRules(needed(all, o))
	if err != nil {
		return nil, fmt.Errorf("reading the rules %q: %w", name, err)
	}
	return &RuleSet{name, sorted, o.Severities, o.Tickets}, nil
}

func newRule(syntax parser.Parser, g rulefmt.RuleGroup, r rulefmt.Rule, interval time.Duration) (*rule, error) {
	expr, err := syntax.ParseExpr(r.Expr)
	if err != nil {
		return nil, err
	}
	one := &rule{
		name: r.Alert + r.Record, expr: r.Expr, interval: cmp.Or(time.Duration(g.Interval), interval),
		records: r.Record != "", labels: r.Labels, lookback: lookback(expr),
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			one.reads = append(one.reads, s.Name)
		}
		return nil
	})
	if slices.Contains(one.reads, "ALERTS") {
		return nil, fmt.Errorf("%s reads ALERTS, which a replay does not write: leave the rule out", one.name)
	}
	if !one.records {
		// Annotations decide nothing and cost the most, so they are left out.
		one.alert = promrules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor),
			labels.FromMap(r.Labels), labels.EmptyLabels(), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	}
	return one, nil
}

// staleAfter is Prometheus's default lookback.
const staleAfter = 5 * time.Minute

// lookback is how far back an expression reads.
func lookback(expr parser.Expr) time.Duration {
	at := time.UnixMilli(math.MaxInt32 * 1000)
	oldest, newest := promql.FindMinMaxTime(&parser.EvalStmt{Expr: expr, Start: at, End: at, LookbackDelta: staleAfter})
	if newest == 0 {
		return staleAfter
	}
	return max(staleAfter, at.Sub(time.UnixMilli(oldest)))
}

// labelSeverity says which alerts count as pages.
const labelSeverity = "severity"

// anyPages refuses rules of which no alert has one of the severities: they would
// be scored as a pager that never pages.
func anyPages(all []*rule, severities []string) error {
	if len(severities) == 0 {
		return nil // every alert is one
	}
	var others []string
	for _, r := range all {
		if !r.records {
			others = append(others, r.labels[labelSeverity])
		}
	}
	if slices.ContainsFunc(others, func(s string) bool { return slices.Contains(severities, s) }) {
		return nil
	}
	slices.Sort(others)
	return fmt.Errorf("no alert has the label %s at %q, which are the pages; the alerts there are have it at %q: choose of those, or set the label", labelSeverity, severities, slices.Compact(others))
}

// needed leaves out alerts of other severities, and what only they read.
func needed(all []*rule, o RuleOptions) []*rule {
	if len(o.Severities) == 0 {
		return all
	}
	severities := slices.Concat(o.Severities, o.Tickets)
	keep, read := map[*rule]bool{}, map[string]bool{}
	for more := true; more; {
		more = false
		for _, r := range all {
			wanted := r.records && read[r.name] || !r.records && slices.Contains(severities, r.labels[labelSeverity])
			if !wanted || keep[r] {
				continue
			}
			keep[r], more = true, true
			for _, name := range r.reads {
				read[name] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(r *rule) bool { return !keep[r] })
}

// sortRules puts what is recorded before what reads it, and keeps the order of
// the file otherwise. Prometheus does the same within a group; between groups
// it may read a value that is one interval old.
func sortRules(all []*rule) ([]*rule, error) {
	open := map[string]int{}
	for _, r := range all {
		if r.records {
			open[r.name]++
		}
	}
	var sorted []*rule
	for len(all) > 0 {
		i := slices.IndexFunc(all, func(r *rule) bool {
			return !slices.ContainsFunc(r.reads, func(name string) bool { return open[name] > 0 })
		})
		if i < 0 {
			return nil, fmt.Errorf("%s reads what rules record that read it: a replay cannot follow a circle", all[0].name)
		}
		r := all[i]
		if r.records {
			open[r.name]--
		}
		sorted = append(sorted, r)
		all = slices.Delete(all, i, i+1)
	}
	return sorted, nil
}

// Reads lists the names of the series that the rules read and do not record.
func (s *RuleSet) Reads() []string {
	names := map[string]bool{}
	for _, r := range s.rules {
		for _, name := range r.reads {
			names[name] = true
		}
	}
	for _, r := range s.rules {
		if r.records {
			delete(names, r.name)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// lookbacks raises, by name, how far back series are read.
func (s *RuleSet) lookbacks(by map[string]time.Duration) {
	for _, r := range s.rules {
		for _, name := range r.reads {
			by[name] = max(by[name], r.lookback)
		}
	}
}

// Alerts lists the names of the alerts that page.
func (s *RuleSet) Alerts() []string {
	var names []string
	for _, r := range s.rules {
		if !r.records && (len(s.pages) == 0 || slices.Contains(s.pages, r.labels[labelSeverity])) {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
