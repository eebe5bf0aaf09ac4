package alerting

import (
	"regexp"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// selection is the set of series that the rules read. Others are not stored: most exported
// series are for people and dashboards.
type selection struct {
	all   bool
	names map[string]bool
}

func (s selection) wants(series string) bool { return s.all || s.names[series] }

// word matches a possible series name in a template.
var word = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)

// selected collects the names that the expressions of groups select. An
// expression that selects by anything but a whole name makes it everything.
// Labels and annotations may query, too: as their queries are put together only
// when an alert fires, every word of a template that queries may be a name.
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
				s.addTemplates(r.Labels, r.Annotations)
			}
		}
	}
	return s, nil
}

func (s *selection) addTemplates(templates ...map[string]string) {
	for _, t := range templates {
		for _, text := range t {
			if !strings.Contains(text, "query") {
				continue
			}
			for _, name := range word.FindAllString(text, -1) {
				s.names[name] = true
			}
		}
	}
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
