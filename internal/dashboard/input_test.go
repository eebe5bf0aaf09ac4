package dashboard_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/dashboard"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/dashboardtest"
)

// TestTwoInstallations: the dashboards of two installations have different UIDs, titles and links, and the kept labels
// are variables that tell their targets apart.
func TestTwoInstallations(t *testing.T) {
	in := example()
	in.UIDPrefix, in.KeepLabels = "staging-", []string{"cluster", "namespace"}
	for i, d := range generate(t, in) {
		if other := generate(t, example())[i]; d.UID != "staging-"+other.UID || d.Title == other.Title {
			t.Errorf("%s and %s: %q and %q", d.UID, other.UID, d.Title, other.Title)
		}
		if bytes.Contains(d.JSON, []byte("/d/synthetic")) || !bytes.Contains(d.JSON, []byte(`"staging-synthetic"`)) {
			t.Errorf("%s links to dashboards of another installation", d.File)
		}
		b := decode(t, d)
		if names := []string{b.Templating.List[1].Name, b.Templating.List[2].Name}; !slices.Equal(names, in.KeepLabels) {
			t.Errorf("%s: variables %q", d.File, names)
		}
	}
	queries, err := dashboardtest.Queries(generate(t, in))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		if strings.Contains(q.Expr, "synthetic_") && !(strings.Contains(q.Expr, `cluster=~"${cluster:regex}"`) && strings.Contains(q.Expr, `namespace=~"${namespace:regex}"`)) {
			t.Errorf("%s does not select by the kept labels", q)
		}
		if strings.Contains(q.Expr, "by (target, workload)") {
			t.Errorf("%s adds up targets of two clusters", q)
		}
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
		"Synthetic / Overview TTFT, worst target": "a.b both", "Synthetic / Target TTFT, first turns": "a.b both",
		"Synthetic / Target TTFT, follow-up turns": "both",
	}
	seen := map[string]string{}
	for _, q := range queries {
		if _, name, ok := strings.Cut(q.Expr, `max(`+metrics.SLOThreshold+`{slo="`); ok {
			name, _, _ = strings.Cut(name, `"`)
			at := q.Dashboard + " " + q.Panel
			seen[at] = strings.TrimSpace(seen[at] + " " + name)
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("threshold lines (-want +got):\n%s", diff)
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
