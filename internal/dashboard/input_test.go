package dashboard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/dashboard"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/dashboardtest"
)

// TestInitialResolution: the window of four steps contains 20 conversations of the slowest traffic.
func TestInitialResolution(t *testing.T) {
	per := func(d time.Duration) workload.Traffic {
		return workload.Traffic{Arrival: workload.Arrival{Process: workload.Constant, Rate: 1 / d.Seconds()}}
	}
	closed := workload.Traffic{Arrival: workload.Arrival{Process: workload.Closed, Concurrency: 4}}
	for _, tc := range []struct {
		name    string
		traffic []workload.Traffic
		want    string
	}{
		{"none", nil, "1m"},
		{"closed loop", []workload.Traffic{closed}, "1m"},
		{"every second", []workload.Traffic{per(time.Second)}, "1m"},
		{"every 12 s", []workload.Traffic{per(12 * time.Second)}, "1m"},
		{"every 13 s", []workload.Traffic{per(13 * time.Second)}, "5m"},
		{"the slowest decides", []workload.Traffic{per(3 * time.Minute), per(time.Second), closed}, "15m"},
		{"every hour", []workload.Traffic{per(time.Hour)}, "1h"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, d := range generate(t, dashboard.Input{Traffic: tc.traffic}) {
				for _, v := range decode(t, d).Templating.List {
					if v.Name == "resolution" && v.Current.Value != tc.want {
						t.Errorf("%s starts at %q, want %q", d.File, v.Current.Value, tc.want)
					}
				}
			}
		})
	}
}

// TestWithoutObjectives: without objectives, there are no panels that would always be empty.
func TestWithoutObjectives(t *testing.T) {
	queries, err := dashboardtest.Queries(generate(t, dashboard.Input{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		if strings.Contains(q.Expr, "synthetic_slo_") {
			t.Errorf("%s needs an objective", q)
		}
	}
}

// TestThresholdLines: a latency panel draws only the thresholds of objectives on its SLI and kind of turn.
func TestThresholdLines(t *testing.T) {
	in := dashboard.Input{SLOs: []slo.Objective{
		{Name: "a.b", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: time.Hour, Turns: []probe.TurnKind{probe.First}},
		{Name: "both", SLI: slo.TTFT, Threshold: 2 * time.Second, Objective: 0.9, Window: time.Hour},
		{Name: "itl", SLI: slo.ITL, Threshold: time.Second, Objective: 0.9, Window: time.Hour},
	}}
	queries, err := dashboardtest.Queries(generate(t, in))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"TTFT, first turns":     `slo=~"a\\.b|both"`,
		"TTFT, follow-up turns": `slo=~"both"`,
		"ITL, first turns":      `slo=~"itl"`,
		"ITL, follow-up turns":  `slo=~"itl"`,
	}
	seen := map[string]bool{}
	for _, q := range queries {
		if !strings.Contains(q.Expr, metrics.SLOThreshold) || q.Panel == "Objectives" {
			continue
		}
		seen[q.Panel] = true
		if w, ok := want[q.Panel]; !ok || !strings.Contains(q.Expr, w) {
			t.Errorf("%s: want a selector with %s", q, w)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("threshold lines in %v, want %v", seen, want)
	}
}

// TestNamesComeFromTheCatalog: no string in the code of this package contains the name of a metric.
func TestNamesComeFromTheCatalog(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if ok && lit.Kind == token.STRING && slices.ContainsFunc(metrics.Catalog(), func(m metrics.Metric) bool { return strings.Contains(lit.Value, m.Name) }) {
				t.Errorf("%s spells out a metric: %s", f.Name(), lit.Value)
			}
			return true
		})
	}
}

// TestNamesAreQuoted: the name of an objective may contain characters that are special in YAML, PromQL and
// templates.
func TestNamesAreQuoted(t *testing.T) {
	const nasty = "a\"b\\c|d.*{{ .Labels }} <<.>> #'\n: é"
	queries, err := dashboardtest.Queries(generate(t, dashboard.Input{SLOs: []slo.Objective{
		{Name: nasty, SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: time.Hour},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		checkQuery(t, q.String(), q.Expr)
	}
}
