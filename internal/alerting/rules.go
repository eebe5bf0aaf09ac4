package alerting

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// RuleFile is the text of a Prometheus rule file.
type RuleFile struct {
	// Name identifies the file: groups of the same name in files of the same name keep their
	// state across a reload.
	Name string
	Data []byte
}

// ruleSet holds parsed rule files.
type ruleSet struct {
	groups map[string]*rulefmt.RuleGroups // by file name
	alerts map[string]alertTiming         // by alert name
	// series are the names of the series that the rules read. Others are not stored: most
	// exported series are for people and dashboards. If a rule selects series without a name,
	// allSeries is true.
	series    map[string]bool
	allSeries bool
}

// alertTiming holds the longest interval and the longest keep_firing_for of an alert's rules.
type alertTiming struct{ interval, keep time.Duration }

// parseRules parses rule files. interval is the interval of groups without one.
func parseRules(files []RuleFile, interval time.Duration, syntax parser.Parser, logger *slog.Logger) (*ruleSet, error) {
	set := &ruleSet{groups: map[string]*rulefmt.RuleGroups{}, alerts: map[string]alertTiming{}, series: map[string]bool{}}
	for _, f := range files {
		groups, errs := rulefmt.Parse(f.Data, false, model.UTF8Validation, syntax, logger)
		if len(errs) > 0 {
			return nil, fmt.Errorf("rule file %q: %w; \"promtool check rules\" says the same", f.Name, errors.Join(errs...))
		}
		set.groups[f.Name] = groups
		for _, g := range groups.Groups {
			for _, r := range g.Rules {
				if err := set.add(r, cmp.Or(time.Duration(g.Interval), interval), syntax); err != nil {
					return nil, err
				}
			}
		}
	}
	return set, nil
}

// word matches a possible series name in a template.
var word = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)

// add records the timing of a rule and the series that it reads.
func (s *ruleSet) add(r rulefmt.Rule, interval time.Duration, syntax parser.Parser) error {
	if r.Alert != "" {
		t := s.alerts[r.Alert]
		s.alerts[r.Alert] = alertTiming{max(t.interval, interval), max(t.keep, time.Duration(r.KeepFiringFor))}
	}
	expr, err := syntax.ParseExpr(r.Expr)
	if err != nil {
		return err
	}
	for _, matchers := range parser.ExtractSelectors(expr) {
		s.addSelector(matchers)
	}
	// Labels and annotations may contain queries, which are put together when the alert fires.
	// So every word of such a template may be the name of a series.
	for _, text := range slices.Concat(slices.Collect(maps.Values(r.Labels)), slices.Collect(maps.Values(r.Annotations))) {
		if strings.Contains(text, "query") {
			for _, name := range word.FindAllString(text, -1) {
				s.series[name] = true
			}
		}
	}
	return nil
}

func (s *ruleSet) addSelector(matchers []*labels.Matcher) {
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			s.series[m.Value] = true
			return
		}
	}
	s.allSeries = true
}

func (s *ruleSet) reads(series string) bool { return s.allSeries || s.series[series] }

// ruleLoader passes the current rules to the rule manager.
type ruleLoader struct {
	syntax  parser.Parser
	current atomic.Pointer[ruleSet] // nil until New has parsed the first rules
}

// timing returns the timing of an alert; known is false if no rule raises it.
func (l *ruleLoader) timing(alert string) (t alertTiming, known bool) {
	t, known = l.current.Load().alerts[alert]
	return t, known
}

// Load implements rules.GroupLoader.
func (l *ruleLoader) Load(name string, _ bool, _ model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	if groups := l.current.Load().groups[name]; groups != nil {
		return groups, nil
	}
	return nil, []error{fmt.Errorf("there is no rule file %q", name)}
}

// Parse implements rules.GroupLoader.
func (l *ruleLoader) Parse(query string) (parser.Expr, error) { return l.syntax.ParseExpr(query) }
