package rules

import (
	"fmt"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// A failed turn and slow turns also make sessions bad. These rules page once for such a fault: for the objective that
// pages first. They exist only with an objective on sessions.

// sessionNames returns the names of the objectives on sessions.
func sessionNames(objectives []objective) []string { return bySLI(objectives)[SLISession] }

// subjects names what the objectives judge.
func subjects(objectives []objective) string {
	if sessionNames(objectives) == nil {
		return "turns"
	}
	return "turns or sessions"
}

// sessionRules record the sessions that miss their objective because of failed turns, and the burn rates that another
// page explains.
func sessionRules(objectives []objective) []rule {
	names := sessionNames(objectives)
	if names == nil {
		return nil
	}
	burning := func(sli string) string { return matchers{equals(labelSLI, sli)}.selector(recordBurning) }
	after := time.Duration(0)
	for _, fit := range fits(objectives, slo.Page) {
		after = max(after, fit.lastWindow(slo.Page)+2*time.Minute)
	}
	lately := func(series string) string {
		return fmt.Sprintf("max_over_time(%s[%s])", series, slo.FormatDuration(after))
	}
	paged := lately(matchers{equals(labelSLI, SLISession)}.selector(recordPageBurn))
	on, failing := "on ("+onJob+")", onObjective+" "+recordSessionsFailing
	parts := []string{fmt.Sprintf("%s unless %s and %s (%s or %s)", burning(SLISession), failing, on, lately(burning(SLILatency)), slowIncident(after))}
	if bySLI(objectives)[SLIAvailability] != nil {
		parts = append(parts, fmt.Sprintf("%s and %s and %s %s", burning(SLISession), failing, on, lately(burning(SLIAvailability))),
			fmt.Sprintf("%s and %s (%s and %s)", burning(SLIAvailability), on, paged, failing))
	}
	parts = append(parts, fmt.Sprintf("%s and %s (%s unless %s)", burning(SLILatency), on, paged, failing))
	return []rule{
		record(recordSessionsFailing, fmt.Sprintf("%s < %s group_left () 1.25 * %s", missed(names), on, increase(perJob(), metrics.TurnFailures, time.Hour))),
		record(recordSameFault, fmt.Sprintf("%s\nunless %s max_over_time(%s[%s])", anyOf(parts), onObjective, recordPageBurn, samePage)),
	}
}

// slowIncident exists while a regression page is at most so long ago.
func slowIncident(after time.Duration) string {
	return fmt.Sprintf("max_over_time(%s[%s])", matchers{equals(labelCause, causeSlow)}.selector(recordIncident), slo.FormatDuration(after))
}

// unlessSlowSessions holds back the tickets of objectives on sessions while a regression page explains slow sessions,
// and for some time after it. Failed sessions are not explained.
func unlessSlowSessions(objectives []objective, after time.Duration) string {
	names := sessionNames(objectives)
	if names == nil {
		return ""
	}
	return fmt.Sprintf("\nunless %[1]s (%[2]s unless %[1]s %[3]s and on (%[4]s) %[5]s)", onObjective, missed(names), recordSessionsFailing, onJob, slowIncident(after))
}

// unlessSameFault holds a burn rate back that another page explains.
func unlessSameFault(objectives []objective) string {
	if sessionNames(objectives) == nil {
		return ""
	}
	return "\nunless " + onObjective + " " + recordSameFault
}
