package rules

import (
	"fmt"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// A page ends before everything that its fault leaves behind has: the windows of
// a burn rate stay full for minutes, those of a ticket for hours. So that this
// pages nobody again, what may follow from an incident is held back until its own
// window holds nothing of it. What is new shows then, and an Alertmanager is not
// needed for it.

const (
	// unlessStarved ends the expression of what pages about a job: it is held back
	// while every prober of the job is starved, and for two minutes after, since
	// what they say of the target may be their own doing. That a prober ends no
	// turns is said always: one that stands still after own faults would hide
	// itself.
	unlessStarved = "unless on (" + onJob + ") " + RecordStarved
	// unlessFailing leaves an outage's first word to its own alert, which speaks
	// within a minute: on a history of minutes a few failures are a burn at once.
	// What is no outage after two minutes, because refusals for load came, is one.
	unlessFailing = "unless on (" + onJob + ") (min by (" + onJob + ") (" + metrics.ConsecutiveFailed + ") > 2 unless min by (" +
		onJob + ") (min_over_time(" + metrics.ConsecutiveFailed + "[2m])) > 2)"
	// andConfigured ends the alert of a job where windows are long: what is no
	// longer configured alerts no more.
	andConfigured = "and on (" + onJob + ") " + RecordConfigured

	onJob = metrics.LabelTarget + ", " + metrics.LabelWorkload
)

// heldBy ends an expression that an incident of one of the causes holds back, and
// for as long after; without causes, any does.
func heldBy(after time.Duration, causes ...string) string {
	var m matchers
	if len(causes) > 0 {
		m = matchers{labelCause + `=~"` + strings.Join(causes, "|") + `"`}
	}
	return fmt.Sprintf("unless on (%s) max_over_time(%s[%s])", onJob, m.on(RecordIncident), slo.FormatDuration(after))
}
