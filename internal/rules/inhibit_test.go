package rules_test

import (
	"regexp"
	"slices"
	"testing"

	"synthetic/examples/alertmanager"
)

// TestInhibitionsNameAlerts: all alerts that the example configuration of an Alertmanager names exist.
func TestInhibitionsNameAlerts(t *testing.T) {
	names := regexp.MustCompile(`Synthetic\w+`).FindAllString(string(alertmanager.Config), -1)
	if len(names) < 20 {
		t.Fatalf("the inhibition rules name %d alerts", len(names))
	}
	for _, name := range names {
		if !slices.Contains(alertNames(), name) {
			t.Errorf("there is no alert %s", name)
		}
	}
}
