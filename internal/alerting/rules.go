package alerting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
)

// ruleSet holds the groups of the rules, in their order.
type ruleSet struct {
	groups []*rules.Group
	// words are the words of the text: the names of all series that expressions and templates read, and others.
	// A series with another name is not stored.
	words map[string]bool
}

// loader gives the text of the rules to Prometheus' rule manager.
type loader struct {
	parser.Parser
	text   []byte
	logger *slog.Logger
}

// Load implements rules.GroupLoader.
func (l loader) Load(_ string, ignoreUnknown bool, scheme model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	return rulefmt.Parse(l.text, ignoreUnknown, scheme, l.Parser, l.logger)
}

// Parse implements rules.GroupLoader.
func (l loader) Parse(query string) (parser.Expr, error) { return l.ParseExpr(query) }

// rulesName takes the place of the name of a rule file.
const rulesName = "synthetic"

var word = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)

// load parses the text of a Prometheus rule file.
func (p *Pager) load(text []byte) (*ruleSet, error) {
	l := loader{p.syntax, text, p.options.EngineLogger}
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
	loaded, errs := manager.LoadGroups(p.options.Interval, p.states.external, p.options.ExternalURL, nil, false, rulesName)
	if len(errs) > 0 {
		return nil, fmt.Errorf("the alert rules: %w; \"promtool check rules\" says the same", errors.Join(errs...))
	}
	set := &ruleSet{words: map[string]bool{}}
	texts, _ := l.Load(rulesName, false, model.UTF8Validation) // for the order, which is that of the records
	for _, g := range texts.Groups {
		set.groups = append(set.groups, loaded[rules.GroupKey(rulesName, g.Name)])
	}
	for _, w := range word.FindAll(text, -1) {
		set.words[string(w)] = true
	}
	return set, nil
}

// follow takes over the state of the groups that s replaces.
func (s *ruleSet) follow(old *ruleSet) {
	for _, g := range s.groups {
		for _, o := range old.groups {
			if g.Name() == o.Name() {
				g.CopyState(o)
				for _, r := range g.AlertingRules() {
					r.SetRestored(restored(o))
				}
			}
		}
	}
}

// restored reports whether the pending alerts of an earlier process have continued to wait.
func restored(g *rules.Group) bool {
	return !slices.ContainsFunc(g.AlertingRules(), func(r *rules.AlertingRule) bool { return !r.Restored() })
}
