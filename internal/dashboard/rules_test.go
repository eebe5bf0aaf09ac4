package dashboard_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"synthetic/internal/dashboard"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/cause"
	"synthetic/internal/sidecar/metrics"
	"synthetic/tools/testkit/dashboardtest"
)

// everyPanel calls f for each panel except rows.
func everyPanel(t *testing.T, f func(d dashboard.Dashboard, p dashboardtest.Panel)) {
	t.Helper()
	for _, d := range generate(t, example()) {
		for _, p := range decode(t, d).Panels {
			if p.Type != "row" {
				f(d, p)
			}
		}
	}
}

// TestTablesDoNotLie: the text for a table without rows does not fill empty cells of other tables, and labels
// are shown as text even if they look like numbers.
func TestTablesDoNotLie(t *testing.T) {
	everyPanel(t, func(d dashboard.Dashboard, p dashboardtest.Panel) {
		if p.Type != "table" {
			return
		}
		for _, o := range p.FieldConfig.Overrides {
			if o.Property("mappings") == nil && o.Property("noValue") == nil {
				t.Errorf("%s: an empty cell in the column %q of %q says %q", d.File, o.Matcher.Options, p.Title, p.FieldConfig.Defaults.NoValue)
			}
			if o.Property("unit") == nil {
				t.Errorf("%s: the column %q of %q has no unit: that of text is \"string\"", d.File, o.Matcher.Options, p.Title)
			}
		}
		if merges := slices.ContainsFunc(p.Transformations, func(x struct{ ID string }) bool { return x.ID == "merge" }); merges != (len(p.Targets) > 1) {
			t.Errorf("%s: the table %q of %d queries: merged is %v", d.File, p.Title, len(p.Targets), merges)
		}
	})
}

// TestTablesHoldTheirRows: every query of a merged table answers for every row, also where nothing is
// known. Grafana's merge leaves out all columns if one answer is empty.
func TestTablesHoldTheirRows(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := dashboardtest.Open(t, dashboardtest.Text)
	for _, series := range [][]string{
		{metrics.SchedulerHeartbeat, "target", "chat", "workload", "w"}, {metrics.SLOObjective, "slo", "ttft"}, {metrics.BuildInfo},
		{metrics.PageScore, "target", "chat", "workload", "w", "signal", "ttft"},
		// A page about the prober itself must not become a row of the targets.
		{"ALERTS_FOR_STATE", "alertname", "SyntheticProberSilent", "severity", "page"},
	} {
		if err := store.Put(at, 1, append([]string{"__name__", series[0], "instance", "a"}, series[1:]...)...); err != nil {
			t.Fatal(err)
		}
	}
	everyPanel(t, func(d dashboard.Dashboard, p dashboardtest.Panel) {
		for _, q := range p.Targets {
			// The table of alerts has rows of its own, and drops those of other targets.
			if p.Type != "table" || len(p.Targets) == 1 || p.Title == "Open alerts" {
				return
			}
			if got, err := dashboardtest.Instant(t.Context(), store, q.Expr, at, time.Hour); err != nil || len(got) != 1 {
				t.Errorf("%s: query %s of %q has %d rows (%v), want 1: %v", d.File, q.RefID, p.Title, len(got), err, got)
			}
		}
	})
}

// TestEmptyPanelsSayWhy: no panel says "No data".
func TestEmptyPanelsSayWhy(t *testing.T) {
	everyPanel(t, func(d dashboard.Dashboard, p dashboardtest.Panel) {
		if p.FieldConfig.Defaults.NoValue == "" {
			t.Errorf("%s: %q has no text for an empty answer", d.File, p.Title)
		}
	})
}

// TestFewPanelsAreOpen: at most 20 panels of a dashboard about a target load at once.
func TestFewPanelsAreOpen(t *testing.T) {
	for _, d := range generate(t, example()) {
		var board struct{ Panels []struct{ Type string } }
		if err := json.Unmarshal(d.JSON, &board); err != nil {
			t.Fatal(err)
		}
		open := 0
		for _, p := range board.Panels {
			if p.Type != "row" {
				open++
			}
		}
		if open > 20 {
			t.Errorf("%s opens %d panels", d.File, open)
		}
	}
}

// TestStatsShowAll: a stat panel has an orientation; without one, Grafana shows only the first series.
func TestStatsShowAll(t *testing.T) {
	everyPanel(t, func(d dashboard.Dashboard, p dashboardtest.Panel) {
		if p.Type == "stat" && p.Options.Orientation != "vertical" {
			t.Errorf("%s: the stat %q has the orientation %q", d.File, p.Title, p.Options.Orientation)
		}
		if p.Type == "timeseries" && p.Options.Legend.DisplayMode != "list" {
			t.Errorf("%s: the legend of %q is a %s", d.File, p.Title, p.Options.Legend.DisplayMode)
		}
	})
}

// TestOneUnitAnAxis: a line that is 0 or 1, or an age in seconds, has an axis of its own in a chart of another unit.
func TestOneUnitAnAxis(t *testing.T) {
	kinds := map[string]string{} // by family
	for _, m := range metrics.Catalog() {
		if strings.HasPrefix(m.Help, "1 if ") {
			kinds[m.Name] = "0 or 1"
		}
	}
	aside := 0
	everyPanel(t, func(d dashboard.Dashboard, p dashboardtest.Panel) {
		for _, q := range p.Targets {
			want := ""
			for _, name := range families(t, dashboardtest.Substitute(q.Expr, time.Hour)) {
				want += kinds[name]
			}
			if age := strings.Contains(q.Expr, "time() -") && p.FieldConfig.Defaults.Unit != "s"; p.Type != "timeseries" || want == "" && !age {
				continue
			}
			aside++
			if !slices.ContainsFunc(p.FieldConfig.Overrides, func(o dashboardtest.Override) bool {
				return o.Property("custom.axisPlacement") == "right" && regexp.MustCompile(strings.Trim(o.Matcher.Options, "/")).MatchString(q.LegendFormat)
			}) {
				t.Errorf("%s: %q of %q shares the axis of the unit %q", d.File, q.LegendFormat, p.Title, p.FieldConfig.Defaults.Unit)
			}
		}
	})
	if aside == 0 {
		t.Error("no line was found that needs an axis of its own")
	}
}

// TestQuantilesHaveTheirColours: each quantile has its own colour, the same on all panels.
func TestQuantilesHaveTheirColours(t *testing.T) {
	colours := map[string]any{}
	everyPanel(t, func(d dashboard.Dashboard, p dashboardtest.Panel) {
		for _, q := range p.Targets {
			name := q.LegendFormat
			if p.Type != "timeseries" || !slices.Contains([]string{"p50", "p95", "p99"}, name) {
				continue
			}
			at := slices.IndexFunc(p.FieldConfig.Overrides, func(o dashboardtest.Override) bool {
				return regexp.MustCompile(strings.Trim(o.Matcher.Options, "/")).MatchString(q.LegendFormat)
			})
			if at < 0 {
				t.Fatalf("%s: %q of %q has no colour of its own", d.File, q.LegendFormat, p.Title)
			}
			colour := p.FieldConfig.Overrides[at].Property("color").(map[string]any)["fixedColor"]
			for other, has := range colours {
				if (other == name) != (has == colour) {
					t.Errorf("%s: %q of %q is %v, and %s is %v elsewhere", d.File, q.LegendFormat, p.Title, colour, other, has)
				}
			}
			colours[name] = colour
		}
	})
	if len(colours) != 3 {
		t.Errorf("coloured are %v", colours)
	}
}

// TestPartsHaveNames: each part of a turn is shown in words.
func TestPartsHaveNames(t *testing.T) {
	everyPanel(t, func(d dashboard.Dashboard, p dashboardtest.Panel) {
		for _, o := range p.FieldConfig.Overrides {
			for _, part := range cause.Parts() {
				if words := fmt.Sprint(o.Property("mappings")); o.Matcher.Options == "Likely cause" && !strings.Contains(words, string(part)+":map") {
					t.Errorf("%s: %q has no words for %s", d.File, p.Title, part)
				}
			}
		}
	})
}

// TestWordsFitIntoARow: the sentences and first steps of pages take two lines of the table of alerts.
func TestWordsFitIntoARow(t *testing.T) {
	limits := map[string]int{"What happens": 42, "First step": 76}
	everyPanel(t, func(_ dashboard.Dashboard, p dashboardtest.Panel) {
		for _, o := range p.FieldConfig.Overrides {
			list, _ := o.Property("mappings").([]any)
			for _, m := range list {
				options, _ := m.(map[string]any)["options"].(map[string]any)
				for alert, shown := range options {
					result, _ := shown.(map[string]any)
					text, _ := result["text"].(string)
					if most := limits[o.Matcher.Options]; most > 0 && len(text) > most {
						t.Errorf("%s: %q has %d letters, more than %d", alert, text, len(text), most)
					}
				}
			}
		}
	})
}

// TestFewPanels: three dashboards have at most 40 panels.
func TestFewPanels(t *testing.T) {
	panels := 0
	everyPanel(t, func(dashboard.Dashboard, dashboardtest.Panel) { panels++ })
	if panels > 40 {
		t.Errorf("%d panels", panels)
	}
}

// TestEveryFamilyHasAReader: a panel or a rule reads each family of the catalog; else it had no user and would leave.
func TestEveryFamilyHasAReader(t *testing.T) {
	in := rules.Input{
		SLOs: example().SLOs, Discovery: true, TargetLabels: []string{metrics.LabelService},
		Jobs: []rules.Job{{Target: "chat", Workload: "chat", ServerMetrics: true, TurnsPerMinute: 48, ConversationsPerMinute: 12}},
	}
	in.SLOs[0].PerThousand = time.Second
	generated, err := rules.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := dashboardtest.Queries(generate(t, example()))
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, q := range queries {
		for _, name := range families(t, dashboardtest.Substitute(q.Expr, time.Hour)) {
			read[regexp.MustCompile("_(bucket|sum|count)$").ReplaceAllString(name, "")] = true
		}
	}
	for _, g := range generated.Groups.Groups {
		for _, r := range g.Rules {
			for _, name := range families(t, r.Expr) {
				read[name] = true
			}
			for _, m := range metrics.Catalog() { // texts of alerts have queries, too
				if text := r.Annotations["summary"] + r.Annotations["description"]; strings.Contains(text, m.Name) {
					read[m.Name] = true
				}
			}
		}
	}
	for _, m := range slices.Concat(metrics.Catalog(), metrics.PagerCatalog()) {
		if !read[m.Name] {
			t.Errorf("no panel and no rule reads %s", m.Name)
		}
	}
}

// TestPagesHaveWords: the overview says in words what each alert that pages means and what to do first, and
// knows by a recorded series whether the rules are loaded.
func TestPagesHaveWords(t *testing.T) {
	in := rules.Input{
		SLOs: example().SLOs, Jobs: []rules.Job{{Target: "a", Workload: "w"}}, Discovery: true,
		TargetLabels: []string{metrics.LabelService},
	}
	generated, err := rules.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]bool{}
	everyPanel(t, func(_ dashboard.Dashboard, p dashboardtest.Panel) {
		if p.Title != "Open alerts" {
			return
		}
		for _, g := range generated.Groups.Groups {
			for _, r := range g.Rules {
				recorded[r.Record] = true
				if r.Labels["severity"] != "page" {
					continue
				}
				for _, o := range p.FieldConfig.Overrides {
					if words := fmt.Sprint(o.Property("mappings")); slices.Contains([]string{"What happens", "First step"}, o.Matcher.Options) && !strings.Contains(words, r.Alert) {
						t.Errorf("the column %q has no words for %s", o.Matcher.Options, r.Alert)
					}
				}
			}
		}
	})
	if name := "target_workload:synthetic_configured:max"; !recorded[name] {
		t.Errorf("no rule records %s", name)
	}
}

// families returns the names of the series that an expression reads.
func families(t *testing.T, expr string) (names []string) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatal(err)
	}
	parser.Inspect(parsed, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			names = append(names, v.Name)
		}
		return nil
	})
	return names
}
