package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"synthetic/internal/dashboard"
	"synthetic/internal/sidecar/metrics"
)

// TestRulesReadOnlyWhatIsWritten: every selector names a metric of the catalog or a recorded series, with
// labels that it has. A rule that selects a missing series never fires.
func TestRulesReadOnlyWhatIsWritten(t *testing.T) {
	r := generate(t, fixed())
	known := exported()
	for _, g := range r.Groups.Groups {
		for _, rule := range g.Rules {
			if rule.Record != "" {
				known[rule.Record] = []string{"target", "workload", "turn", "slo", "sli", "cause", "signal", "part"}
			}
		}
	}
	for _, g := range r.Groups.Groups {
		for _, rule := range g.Rules {
			expr, err := parser.NewParser(parser.Options{}).ParseExpr(rule.Expr)
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok {
					checkSelector(t, known, s)
				}
				return nil
			})
		}
	}
}

// exported returns the labels of each series that the catalog has.
func exported() map[string][]string {
	known := map[string][]string{}
	for _, m := range slices.Concat(metrics.Catalog(), metrics.PagerCatalog()) {
		labels := append(slices.Clone(m.Labels), "instance")
		known[m.Name] = labels
		switch m.Kind {
		case metrics.Histogram:
			known[m.Name+"_bucket"] = append(labels, "le")
		case metrics.Summary:
			known[m.Name+"_sum"], known[m.Name+"_count"] = labels, labels
		}
	}
	return known
}

func checkSelector(t *testing.T, known map[string][]string, s *parser.VectorSelector) {
	t.Helper()
	labels, ok := known[s.Name]
	if !ok {
		t.Errorf("%s is read, but not exported or recorded", s.Name)
	}
	for _, m := range s.LabelMatchers {
		if m.Name != "__name__" && !slices.Contains(labels, m.Name) {
			t.Errorf("%s has no label %s", s.Name, m.Name)
		}
	}
}

// TestLinksLeadToDashboards: links have the UIDs of the dashboards.
func TestLinksLeadToDashboards(t *testing.T) {
	for _, g := range generate(t, fixed()).Groups.Groups {
		for _, rule := range g.Rules {
			if rule.Alert == "" {
				continue
			}
			path, _, _ := strings.Cut(strings.TrimPrefix(rule.Annotations["dashboard_url"], "https://grafana.example.org/d/"), "?")
			if path != dashboard.TargetUID && path != dashboard.ProberUID {
				t.Errorf("%s links to the dashboard %q", rule.Alert, path)
			}
		}
	}
}
