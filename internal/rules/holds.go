package rules

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// A fault leaves traces after its page has ended: burn rate windows stay full for minutes,
// those of tickets for hours. To avoid a second page, an alert that may follow from an incident
// is held back until its own window no longer contains the incident. New faults still page, and
// no Alertmanager is needed for this.

const (
	// unlessStarved ends the expression of a page about a job. The page is held back while
	// every prober of the job is starved and for two more minutes, because its cause may be the
	// prober itself. The alert on silent probers is not held back: otherwise a prober that
	// stops after faults of its own would hide itself.
	unlessStarved = "unless on (" + onJob + ") " + RecordStarved
	// unlessFailing leaves the first minutes of an outage to its own alert, which fires within
	// a minute: with a short history, a few failures are already a fast burn. After two minutes
	// without an outage alert, for example because of refusals for load, the burn may page.
	unlessFailing = "unless on (" + onJob + ") (min by (" + onJob + ") (" + metrics.ConsecutiveFailed + ") > 2 unless min by (" +
		onJob + ") (min_over_time(" + metrics.ConsecutiveFailed + "[2m])) > 2)"
	// andConfigured ends an alert of a job with long windows, so that a removed job stops
	// alerting.
	andConfigured = "and on (" + onJob + ") " + RecordConfigured

	onJob = metrics.LabelTarget + ", " + metrics.LabelWorkload
)

// heldBy ends an expression that is held back during an incident with one of the causes, and
// for the time after it. Without causes, any incident holds it back.
func heldBy(after time.Duration, causes ...string) string {
	var m matchers
	if len(causes) > 0 {
		m = matchers{labelCause + `=~"` + strings.Join(causes, "|") + `"`}
	}
	return fmt.Sprintf("unless on (%s) max_over_time(%s[%s])", onJob, m.on(RecordIncident), slo.FormatDuration(after))
}
