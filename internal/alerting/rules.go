package alerting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
)

// RuleFile is the text of a Prometheus rule file.
type RuleFile struct {
	// Name identifies the file: groups of the same name in files of the same name keep their
	// state across a reload.
	Name string
	Data []byte
}

// ruleSet holds the groups of rule files, in their order.
type ruleSet struct {
	groups []*ruleGroup
	alerts map[string]alertTiming // by alert name
	// series are the names of the series that the rules read. Others are not stored: most
	// exported series are for people and dashboards. If a rule selects series without a name,
	// allSeries is true.
	series    map[string]bool
	allSeries bool
}

type ruleGroup struct {
	*rules.Group
	evaluations int // since the process began
}

// alertTiming holds the longest interval and the longest keep_firing_for of an alert's rules.
type alertTiming struct{ interval, keep time.Duration }

// loader gives the texts of rule files to Prometheus' rule manager.
type loader struct {
	files  map[string][]byte
	syntax parser.Parser
	logger *slog.Logger
}

// Load implements rules.GroupLoader.
func (l loader) Load(name string, ignoreUnknown bool, scheme model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	return rulefmt.Parse(l.files[name], ignoreUnknown, scheme, l.syntax, l.logger)
}

// Parse implements rules.GroupLoader.
func (l loader) Parse(query string) (parser.Expr, error) { return l.syntax.ParseExpr(query) }

// load parses rule files.
func (p *Pager) load(files []RuleFile) (*ruleSet, error) {
	l := loader{files: map[string][]byte{}, syntax: p.syntax, logger: p.options.EngineLogger}
	for _, f := range files {
		l.files[f.Name] = f.Data
	}
	manager := rules.NewManager(&rules.ManagerOptions{
		NameValidationScheme: model.UTF8Validation,
		QueryFunc:            rules.EngineQueryFunc(p.engine, p.memory),
		NotifyFunc:           p.states.notify,
		Appendable:           p.memory, Queryable: p.memory, Context: context.Background(),
		Logger: p.options.EngineLogger, Parser: p.syntax, GroupLoader: l,
		// A pending alert continues to wait after a restart, however short its "for" is.
		OutageTolerance: outageTolerance, ForGracePeriod: 0,
		// The states send the reminders, so they need the result of every evaluation.
		ResendDelay: time.Millisecond,
	})
	set := &ruleSet{alerts: map[string]alertTiming{}, series: map[string]bool{}}
	for _, f := range files {
		loaded, errs := manager.LoadGroups(p.options.Interval, p.states.external, p.options.ExternalURL, nil, false, f.Name)
		if len(errs) > 0 {
			return nil, fmt.Errorf("rule file %q: %w; \"promtool check rules\" says the same", f.Name, errors.Join(errs...))
		}
		texts, _ := l.Load(f.Name, false, model.UTF8Validation) // for the order, which is that of the records
		for _, text := range texts.Groups {
			g := loaded[rules.GroupKey(f.Name, text.Name)]
			set.groups = append(set.groups, &ruleGroup{Group: g})
			for i, r := range g.Rules() {
				set.add(r, text.Rules[i], g.Interval())
			}
		}
	}
	return set, nil
}

// word matches a possible series name in a template.
var word = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)

// add records the timing of a rule and the series that it reads.
func (s *ruleSet) add(r rules.Rule, text rulefmt.Rule, interval time.Duration) {
	if text.Alert != "" {
		t := s.alerts[text.Alert]
		s.alerts[text.Alert] = alertTiming{max(t.interval, interval), max(t.keep, time.Duration(text.KeepFiringFor))}
	}
	for _, matchers := range parser.ExtractSelectors(r.Query()) {
		named := slices.IndexFunc(matchers, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual })
		if named < 0 {
			s.allSeries = true
			continue
		}
		s.series[matchers[named].Value] = true
	}
	// Labels and annotations may contain queries, which are put together when the alert fires.
	// So every word of such a template may be the name of a series.
	for _, template := range slices.Concat(slices.Collect(maps.Values(text.Labels)), slices.Collect(maps.Values(text.Annotations))) {
		if strings.Contains(template, "query") {
			for _, name := range word.FindAllString(template, -1) {
				s.series[name] = true
			}
		}
	}
}

func (s *ruleSet) reads(series string) bool { return s.allSeries || s.series[series] }

// follow takes over the state of the groups that s replaces.
func (s *ruleSet) follow(old *ruleSet) {
	for _, g := range s.groups {
		for _, o := range old.groups {
			if g.File() != o.File() || g.Name() != o.Name() {
				continue
			}
			if g.Equals(o.Group) {
				g.Group = o.Group
			} else {
				g.CopyState(o.Group)
				for _, r := range g.AlertingRules() {
					r.SetRestored(o.evaluations >= restoredAfter)
				}
			}
			g.evaluations = o.evaluations
		}
	}
}
