package rules

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// After the page of a fault has ended, the fault is still in the windows of burn rates: for minutes in
// those of pages, for hours in those of tickets. To avoid a second alert, an alert that may follow from
// an incident is held back until its own window no longer contains the incident. New faults still page.
// This needs no Alertmanager.

const (
	// andConfigured ends the expression of an alert with long windows, so that a removed job stops
	// alerting.
	andConfigured = "and on (" + onJob + ") " + recordConfigured

	onJob = metrics.LabelTarget + ", " + metrics.LabelWorkload
)

// unlessIncident ends an expression that is held back during an incident with one of the causes, and
// for some time after it. Without causes, every incident holds it back.
func unlessIncident(after time.Duration, causes ...string) string {
	var m matchers
	if len(causes) > 0 {
		m = matchers{labelCause + `=~"` + strings.Join(causes, "|") + `"`}
	}
	return fmt.Sprintf("unless on (%s) max_over_time(%s[%s])", onJob, m.selector(recordIncident), slo.FormatDuration(after))
}
