package rules_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/rules"
)

const exampleAlertmanager = "../../examples/alertmanager/alertmanager.yml"

// TestExampleAlertmanager: the example configuration contains the inhibition rules; -update rewrites it.
func TestExampleAlertmanager(t *testing.T) {
	b, err := os.ReadFile(exampleAlertmanager)
	if err != nil {
		t.Fatal(err)
	}
	head, got, ok := strings.Cut(string(b), "inhibit_rules:\n")
	if !ok {
		t.Fatalf("%s has no inhibit_rules", exampleAlertmanager)
	}
	want := inhibitRules()
	if *update {
		if err := os.WriteFile(exampleAlertmanager, []byte(head+"inhibit_rules:\n"+want), 0o644); err != nil {
			t.Fatal(err)
		}
		got = want
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is stale (-want +got); rewrite it with -update\n%s", exampleAlertmanager, diff)
	}
}

// inhibitRules returns the inhibitions in the form of an Alertmanager's configuration.
func inhibitRules() string {
	var b strings.Builder
	for _, i := range rules.Inhibitions() {
		fmt.Fprintf(&b, "  # %s\n  - source_matchers: [%s]\n    target_matchers: [%s]\n", i.Why,
			matching(i.Sources, i.SourceLabels), matching(i.Targets, i.TargetLabels))
		if len(i.Equal) > 0 {
			fmt.Fprintf(&b, "    equal: [%s]\n", strings.Join(i.Equal, ", "))
		}
	}
	return b.String()
}

func matching(alerts []string, more map[string][]string) string {
	one := func(label string, values []string) string {
		if len(values) == 1 {
			return fmt.Sprintf("%s=%q", label, values[0])
		}
		return fmt.Sprintf("%s=~%q", label, strings.Join(values, "|"))
	}
	out := []string{one("alertname", alerts)}
	for _, label := range slices.Sorted(maps.Keys(more)) {
		out = append(out, one(label, more[label]))
	}
	return strings.Join(out, ", ")
}

// TestInhibitionsNameAlerts: all names of inhibitions are names of alerts.
func TestInhibitionsNameAlerts(t *testing.T) {
	for _, i := range rules.Inhibitions() {
		for _, name := range slices.Concat(i.Sources, i.Targets) {
			if !slices.Contains(alertNames(), name) {
				t.Errorf("%q: there is no alert %s", i.Why, name)
			}
		}
	}
}
