package rules_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixed has jobs with a normal, a low and an unknown rate, and objectives with and without restrictions. One
// objective is too low for the default windows.
func fixed() rules.Input {
	return rules.Input{
		SLOs: []slo.Objective{
			{Name: "first-ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * day, Turns: []probe.TurnKind{probe.First}},
			{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.8, Window: 7 * day, Workloads: []string{"chat"}},
			{Name: "available", SLI: slo.Availability, Objective: 0.995, Window: 28 * day, Targets: []string{"eu", "us.west"}},
		},
		Jobs: []rules.Job{
			{Target: "eu", Workload: "chat", TurnsPerMinute: 12, ConversationsPerMinute: 3, TurnTimeout: 2 * time.Minute, ServerMetrics: true},
			{Target: "us.west", Workload: "chat", TurnsPerMinute: 12, ConversationsPerMinute: 3, TurnTimeout: 2 * time.Minute},
			{Target: "canary", Workload: "chat", TurnsPerMinute: 1, ConversationsPerMinute: 0.25, TurnTimeout: 2 * time.Minute},
			{Target: "eu", Workload: "long", TurnTimeout: 10 * time.Minute},
		},
		RunbookURL:   "https://example.org/synthetic/docs/runbooks/",
		DashboardURL: "https://grafana.example.org/d/",
	}
}

func TestGolden(t *testing.T) {
	r := generate(t, fixed())
	plain, err := r.PrometheusYAML()
	if err != nil {
		t.Fatal(err)
	}
	resource, err := r.Resource()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "rules.yml")
	if *update {
		if err := os.WriteFile(path, plain, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(plain)); diff != "" {
		t.Errorf("%s is stale (-want +got); rewrite it with -update\n%s", path, diff)
	}
	head, groups, _ := strings.Cut(string(plain), "groups:\n")
	head += "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: synthetic\nspec:\n  groups:\n"
	if diff := cmp.Diff(head+"  "+strings.ReplaceAll(strings.TrimSuffix(groups, "\n"), "\n", "\n  ")+"\n", string(resource)); diff != "" {
		t.Errorf("the resource is not the rule file (-want +got):\n%s", diff)
	}
}

func generate(t *testing.T, in rules.Input) rules.Rules {
	t.Helper()
	r, err := rules.Generate(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
