package engine

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

// RuleSet holds the rules of a file, sorted so that no rule reads a series that a later rule
// records.
type RuleSet struct {
	RuleFile
	rules []*rule
}

type rule struct {
	name, expr string
	interval   time.Duration
	records    bool
	labels     map[string]string
	reads      []string
	lookback   time.Duration
	alert      *promrules.AlertingRule // nil for a recording rule
	// circle is the same for recording rules that read each other, or itself; nil for other rules.
	circle *rule
}

// RuleOptions select the rules of a file.
type RuleOptions struct {
	// Interval is for groups that set none.
	Interval time.Duration
	// Alerts with one of the Severities are pages, those with one of the Tickets are tickets.
	// Other alerts are ignored, and so are the rules that only they read. Without Severities
	// every alert is a page.
	Severities, Tickets []string
}

func loadRules(f RuleFile) (*RuleSet, error) {
	syntax := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.Parse(f.Text, false, model.LegacyValidation, syntax, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return nil, fmt.Errorf("reading the rules %q: %w", f.Name, errors.Join(errs...))
	}
	var all []*rule
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			parsed, err := newRule(syntax, g, r, f.Interval)
			if err != nil {
				return nil, fmt.Errorf("reading the rules %q, group %q: %w", f.Name, g.Name, err)
			}
			all = append(all, parsed)
		}
	}
	if err := checkPages(all, f.Severities); err != nil {
		return nil, fmt.Errorf("reading the rules %q: %w", f.Name, err)
	}
	sorted, err := sortRules(selectRules(all, f.RuleOptions))
	if err != nil {
		return nil, fmt.Errorf("reading the rules %q: %w", f.Name, err)
	}
	return &RuleSet{f, sorted}, nil
}

func newRule(syntax parser.Parser, g rulefmt.RuleGroup, r rulefmt.Rule, interval time.Duration) (*rule, error) {
	expr, err := syntax.ParseExpr(r.Expr)
	if err != nil {
		return nil, err
	}
	parsed := &rule{
		name: r.Alert + r.Record, expr: r.Expr, interval: cmp.Or(time.Duration(g.Interval), interval),
		records: r.Record != "", labels: r.Labels, lookback: lookback(expr),
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			parsed.reads = append(parsed.reads, s.Name)
		}
		return nil
	})
	if slices.Contains(parsed.reads, "ALERTS") {
		return nil, fmt.Errorf("%s reads ALERTS, which a replay does not write: remove the rule", parsed.name)
	}
	if !parsed.records {
		// Annotations are left out: they change no score and cost the most time.
		parsed.alert = promrules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor),
			labels.FromMap(r.Labels), labels.EmptyLabels(), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	}
	return parsed, nil
}

// staleAfter is Prometheus's default lookback.
const staleAfter = 5 * time.Minute

// lookback returns how far back an expression reads.
func lookback(expr parser.Expr) time.Duration {
	at := time.UnixMilli(math.MaxInt32 * 1000)
	oldest, newest := promql.FindMinMaxTime(&parser.EvalStmt{Expr: expr, Start: at, End: at, LookbackDelta: staleAfter})
	if newest == 0 {
		return staleAfter
	}
	return max(staleAfter, at.Sub(time.UnixMilli(oldest)))
}

// labelSeverity is the label that tells pages from tickets.
const labelSeverity = "severity"

// checkPages returns an error if no alert has one of the severities, because such rules would
// never page.
func checkPages(all []*rule, severities []string) error {
	if len(severities) == 0 {
		return nil // every alert pages
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
	return fmt.Errorf("no alert pages: pages have the label %s=%q, these alerts have %q; change --severity or the label", labelSeverity, severities, slices.Compact(others))
}

// selectRules drops alerts of other severities, and the rules that only they read.
func selectRules(all []*rule, o RuleOptions) []*rule {
	if len(o.Severities) == 0 {
		return all
	}
	severities := slices.Concat(o.Severities, o.Tickets)
	keep, read := map[*rule]bool{}, map[string]bool{}
	for changed := true; changed; {
		changed = false
		for _, r := range all {
			wanted := r.records && read[r.name] || !r.records && slices.Contains(severities, r.labels[labelSeverity])
			if !wanted || keep[r] {
				continue
			}
			keep[r], changed = true, true
			for _, name := range r.reads {
				read[name] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(r *rule) bool { return !keep[r] })
}

// sortRules puts recording rules before the rules that read them, and otherwise keeps the
// order. Prometheus does the same within a group. Between groups it can read a value that is
// one interval old. Rules that read each other in a circle stay together: those read what later ones recorded an
// interval before.
func sortRules(all []*rule) ([]*rule, error) {
	var sorted []*rule
	for len(all) > 0 {
		next := nextRules(all)
		for _, r := range next {
			if r.interval != next[0].interval {
				return nil, fmt.Errorf("%s and %s depend on each other in a circle, but have different intervals: give their groups the same one", next[0].name, r.name)
			}
			if len(next) > 1 || r.records && slices.Contains(r.reads, r.name) {
				r.circle = next[0]
			}
		}
		sorted = append(sorted, next...)
		all = slices.DeleteFunc(all, func(r *rule) bool { return slices.Contains(next, r) })
	}
	return sorted, nil
}

// nextRules returns the first rule that depends on no other, or the first circle of rules that depend on no others.
func nextRules(all []*rule) []*rule {
	needs := map[*rule][]*rule{}
	for _, r := range all {
		if needs[r] = dependencies(r, all); len(needs[r]) == 0 {
			return []*rule{r}
		}
	}
	first := slices.IndexFunc(all, func(r *rule) bool {
		return !slices.ContainsFunc(needs[r], func(d *rule) bool { return !slices.Contains(needs[d], r) })
	})
	return slices.DeleteFunc(slices.Clone(all), func(d *rule) bool { return !slices.Contains(needs[all[first]], d) })
}

// dependencies returns the recording rules whose series a rule reads, directly or through other rules.
func dependencies(r *rule, all []*rule) (found []*rule) {
	for open := []*rule{r}; len(open) > 0; open = open[1:] {
		for _, d := range all {
			if d.records && slices.Contains(open[0].reads, d.name) && !slices.Contains(found, d) {
				found, open = append(found, d), append(open, d)
			}
		}
	}
	return found
}

// together returns the rules from the n-th on that belong to its circle; only the n-th without a circle.
func (s *RuleSet) together(n int) []*rule {
	end := n + 1
	for end < len(s.rules) && s.rules[n].circle != nil && s.rules[end].circle == s.rules[n].circle {
		end++
	}
	return s.rules[n:end]
}

// reads returns the names of the series that the rules read and do not record.
func (s *RuleSet) reads() []string {
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

// lookbacks raises the entries of longest, which holds by series name how far back rules read.
func (s *RuleSet) lookbacks(longest map[string]time.Duration) {
	for _, r := range s.rules {
		for _, name := range r.reads {
			longest[name] = max(longest[name], r.lookback)
		}
	}
}

// alerts returns the names of the alerts that page.
func (s *RuleSet) alerts() []string {
	var names []string
	for _, r := range s.rules {
		if !r.records && (len(s.Severities) == 0 || slices.Contains(s.Severities, r.labels[labelSeverity])) {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
