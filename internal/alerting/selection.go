package alerting

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// selection says which series the rules read. The others are not stored: most
// of what a prober exports is for people and dashboards.
type selection struct {
	all   bool
	names map[string]bool
}

func (s selection) wants(series string) bool { return s.all || s.names[series] }

// selected collects the names that the expressions of groups select. An
// expression that selects by anything but a whole name makes it everything.
func selected(syntax parser.Parser, groups []*rulefmt.RuleGroups) (selection, error) {
	s := selection{names: map[string]bool{}}
	for _, file := range groups {
		for _, g := range file.Groups {
			for _, r := range g.Rules {
				expr, err := syntax.ParseExpr(r.Expr)
				if err != nil {
					return selection{}, err
				}
				for _, matchers := range parser.ExtractSelectors(expr) {
					s.add(matchers)
				}
			}
		}
	}
	return s, nil
}

func (s *selection) add(matchers []*labels.Matcher) {
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			s.names[m.Value] = true
			return
		}
	}
	s.all = true
}
