package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
)

// Rules are the groups of a rule file, with the state of one replay.
type Rules struct {
	groups []*rules.Group // in the order of the file
	store  *Store
	engine *promql.Engine
	syntax parser.Parser
}

// Load parses a rule file. Groups without an interval, or with a shorter one, have the given one. Rules that no alert reads are left out, and so are annotations: both change no alert
// and cost the most time.
func Load(text []byte, interval time.Duration) (*Rules, error) {
	r := &Rules{store: newStore(map[string]time.Duration{}), syntax: parser.NewParser(parser.Options{})}
	r.engine = promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50e6, Timeout: time.Hour, LookbackDelta: staleAfter, EnableAtModifier: true, Parser: r.syntax,
	})
	parsed, errs := rulefmt.Parse(text, false, model.UTF8Validation, r.syntax, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return nil, fmt.Errorf("reading the rules: %w", errors.Join(errs...))
	}
	if err := r.selectRules(parsed, interval); err != nil {
		return nil, err
	}
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(r.engine, r.store), Appendable: r.store, Queryable: r.store,
		NotifyFunc:  func(context.Context, string, ...*rules.Alert) {},
		ExternalURL: &url.URL{}, Context: context.Background(), Logger: slog.New(slog.DiscardHandler),
		Parser: r.syntax, GroupLoader: loader{parsed, r.syntax},
	})
	loaded, errs := manager.LoadGroups(interval, labels.EmptyLabels(), "", nil, false, "")
	if len(errs) > 0 {
		return nil, fmt.Errorf("reading the rules: %w", errors.Join(errs...))
	}
	for _, g := range parsed.Groups {
		r.groups = append(r.groups, loaded[rules.GroupKey("", g.Name)])
	}
	return r, nil
}

// loader gives parsed groups to Prometheus' rule manager.
type loader struct {
	groups *rulefmt.RuleGroups
	syntax parser.Parser
}

// Load implements rules.GroupLoader.
func (l loader) Load(string, bool, model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	return l.groups, nil
}

// Parse implements rules.GroupLoader.
func (l loader) Parse(query string) (parser.Expr, error) { return l.syntax.ParseExpr(query) }

// selectRules drops the rules that no alert reads, and notes for how long the others need each series.
func (r *Rules) selectRules(all *rulefmt.RuleGroups, interval time.Duration) error {
	kept := map[string]bool{} // by expression
	for changed := true; changed; {
		changed = false
		for _, g := range all.Groups {
			for _, rule := range g.Rules {
				if kept[rule.Expr] || rule.Record != "" && !r.store.Wants(rule.Record) {
					continue
				}
				kept[rule.Expr], changed = true, true
				if err := r.need(rule.Expr); err != nil {
					return fmt.Errorf("reading the rules, group %q, %s: %w", g.Name, rule.Alert+rule.Record, err)
				}
			}
		}
	}
	for i := range all.Groups {
		g := &all.Groups[i]
		g.Interval = max(g.Interval, model.Duration(interval))
		g.Rules = slices.DeleteFunc(g.Rules, func(rule rulefmt.Rule) bool { return rule.Record != "" && !r.store.Wants(rule.Record) })
		for n := range g.Rules {
			g.Rules[n].Annotations = nil
		}
	}
	return nil
}

// need notes the series that an expression reads.
func (r *Rules) need(text string) error {
	expr, err := r.syntax.ParseExpr(text)
	if err != nil {
		return err
	}
	at := time.UnixMilli(math.MaxInt32 * 1000)
	oldest, newest := promql.FindMinMaxTime(&parser.EvalStmt{Expr: expr, Start: at, End: at, LookbackDelta: staleAfter})
	back := staleAfter
	if newest != 0 {
		back = max(back, at.Sub(time.UnixMilli(oldest)))
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			if s.Name == "" {
				err = fmt.Errorf("%s selects series without a name: name them", s)
			}
			r.store.keep[s.Name] = max(r.store.keep[s.Name], back)
		}
		return nil
	})
	return err
}

// staleAfter is Prometheus's default lookback.
const staleAfter = 5 * time.Minute
