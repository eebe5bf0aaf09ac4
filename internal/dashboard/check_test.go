package dashboard_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"synthetic/internal/dashboard"
	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/dashboardtest"
)

func decode(t *testing.T, d dashboard.Dashboard) dashboardtest.Board {
	t.Helper()
	b, err := dashboardtest.Decode(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPanelsAreComplete: each panel has a title, a unit and a description.
func TestPanelsAreComplete(t *testing.T) {
	for _, d := range generate(t, example()) {
		for _, p := range decode(t, d).Panels {
			if p.Type == "row" {
				continue
			}
			for name, value := range map[string]string{
				"title": p.Title, "description": p.Description, "unit": p.FieldConfig.Defaults.Unit,
			} {
				if value == "" {
					t.Errorf("%s: panel %d %q has no %s", d.File, p.ID, p.Title, name)
				}
			}
			if p.Datasource.UID != "${datasource}" {
				t.Errorf("%s: panel %q has the data source %q", d.File, p.Title, p.Datasource.UID)
			}
			if len(p.Targets) == 0 {
				t.Errorf("%s: panel %q has no query", d.File, p.Title)
			}
			for _, q := range p.Targets {
				if q.LegendFormat == "" || q.Interval != "30s" || q.Instant == q.Range {
					t.Errorf("%s: query %s of %q: %+v", d.File, q.RefID, p.Title, q)
				}
			}
		}
	}
}

func TestPanelIDsAreUnique(t *testing.T) {
	for _, d := range generate(t, example()) {
		seen := map[int]string{}
		for _, p := range decode(t, d).Panels {
			if other, ok := seen[p.ID]; ok || p.ID == 0 {
				t.Errorf("%s: panels %q and %q share the id %d", d.File, other, p.Title, p.ID)
			}
			seen[p.ID] = p.Title
		}
	}
}

func TestPanelsDoNotOverlap(t *testing.T) {
	for _, d := range generate(t, example()) {
		taken := map[[2]int]string{}
		for _, p := range decode(t, d).Panels {
			g := p.GridPos
			if g.W == 0 || g.H == 0 || g.X+g.W > 24 {
				t.Errorf("%s: panel %q at %+v is empty or leaves the grid", d.File, p.Title, g)
			}
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					if other, ok := taken[[2]int{x, y}]; ok {
						t.Fatalf("%s: panels %q and %q overlap", d.File, other, p.Title)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}

// foreign lists the series that are not in the catalog.
func foreign() map[string][]string {
	return map[string][]string{
		"ALERTS":                        {"alertname", "alertstate", "severity", "target", "workload", "slo"},
		"ALERTS_FOR_STATE":              {"alertname", "severity", "target", "workload", "slo"},
		"process_cpu_seconds_total":     nil,
		"process_resident_memory_bytes": nil,
		// recorded by the alert rules
		"target_workload:synthetic_configured:max":                 {"target", "workload"},
		"target_workload:synthetic_excess_seconds:topk1":           {"target", "workload", "part"},
		"target_workload_cause:synthetic_incident:max":             {"target", "workload"},
		"target_workload_slo:synthetic_slo_budget_remaining:ratio": {"target", "workload", "slo"},
	}
}

// labelsOf returns the labels of a series.
func labelsOf(name string) ([]string, bool) {
	scraped := []string{"job", "instance"}
	if own, ok := foreign()[name]; ok {
		return append(scraped, own...), true
	}
	if strings.HasPrefix(name, "vllm:") || strings.HasPrefix(name, "sglang:") || strings.HasPrefix(name, "trtllm_") {
		return scraped, true
	}
	base, bucket := strings.CutSuffix(name, "_bucket")
	sums := regexp.MustCompile("_(sum|count)$").ReplaceAllString(name, "")
	for _, m := range slices.Concat(metrics.Catalog(), metrics.PagerCatalog()) {
		switch {
		case m.Name == base && bucket && m.Kind == metrics.Histogram:
			return append(append(scraped, "le"), m.Labels...), true
		case m.Kind == metrics.Summary && m.Name == name:
			return append(append(scraped, "quantile"), m.Labels...), true
		case m.Name == name, m.Name == sums: // a histogram's is the native one
			return append(scraped, m.Labels...), true
		}
	}
	return nil, false
}

func TestQueriesUseTheCatalog(t *testing.T) {
	queries, err := dashboardtest.Queries(generate(t, example()))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		checkQuery(t, q.String(), q.Expr)
	}
	for _, d := range generate(t, example()) {
		for _, a := range decode(t, d).Annotations.List {
			checkQuery(t, d.File+" annotation", a.Expr)
		}
	}
}

// checkQuery parses a query and compares each selector with the catalog.
func checkQuery(t *testing.T, where, expr string) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(dashboardtest.Substitute(expr, time.Hour))
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			known, ok := labelsOf(n.Name)
			if !ok {
				t.Errorf("%s: %q is not in the catalog", where, n.Name)
			}
			for _, m := range n.LabelMatchers {
				if m.Name != model.MetricNameLabel && !slices.Contains(known, m.Name) {
					t.Errorf("%s: %q has no label %q", where, n.Name, m.Name)
				}
			}
		case *parser.AggregateExpr:
			checkGrouping(t, where, n)
		}
		return nil
	})
}

// checkGrouping checks that the series of an aggregation have the labels of its "by".
func checkGrouping(t *testing.T, where string, agg *parser.AggregateExpr) {
	t.Helper()
	parser.Inspect(agg.Expr, func(n parser.Node, path []parser.Node) error {
		// An inner aggregation has its own labels, and may be joined with more.
		within := slices.ContainsFunc(path, func(n parser.Node) bool { _, ok := n.(*parser.AggregateExpr); return ok })
		if v, ok := n.(*parser.VectorSelector); ok && !within {
			known, _ := labelsOf(v.Name)
			for _, l := range agg.Grouping {
				if !slices.Contains(known, l) {
					t.Errorf("%.80s: sums %q by %q, which it has not", where, v.Name, l)
				}
			}
		}
		return nil
	})
}

func TestVariablesAndLinks(t *testing.T) {
	want := map[string][]string{
		dashboard.OverviewUID: {"datasource", "target", "workload"},
		dashboard.TargetUID:   {"datasource", "target", "workload", "server"},
		dashboard.ProberUID:   {"datasource", "target", "workload", "instance"},
	}
	for _, d := range generate(t, example()) {
		b := decode(t, d)
		var names []string
		for _, v := range b.Templating.List {
			names = append(names, v.Name)
			// The values are those of series that have the labels of the other variables.
			if selector, _, ok := strings.Cut(strings.TrimPrefix(v.Definition, "label_values("), ", "); ok && v.Name != "server" {
				checkQuery(t, d.File+": variable "+v.Name, selector)
			}
			// The detail dashboard shows one target and one workload.
			all := v.Multi && v.IncludeAll && v.AllValue == ".*"
			if v.Type == "query" && v.Name != "server" && (all == (b.UID == dashboard.TargetUID) || !strings.HasPrefix(v.Definition, "label_values(synthetic_")) {
				t.Errorf("%s: variable %+v", d.File, v)
			}
		}
		if !slices.Equal(names, want[b.UID]) {
			t.Errorf("%s has the variables %q, want %q", d.File, names, want[b.UID])
		}
		if len(b.Links) != 1 || b.Links[0].Type != "dashboards" || !slices.Equal(b.Links[0].Tags, []string{"synthetic"}) || !b.Links[0].KeepTime {
			t.Errorf("%s: links %+v", d.File, b.Links)
		}
	}
}

// TestValuesAreEscaped: every variable of a label is escaped, because Grafana escapes only those with several values by
// itself.
func TestValuesAreEscaped(t *testing.T) {
	for _, d := range generate(t, example()) {
		if unescaped := regexp.MustCompile(`"\$(target|workload|instance)`).Find(d.JSON); unescaped != nil {
			t.Errorf("%s: %s", d.File, unescaped)
		}
	}
}
