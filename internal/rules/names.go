package rules

import (
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// Names of alerts that Go code uses. groups.yml has the others. Each has a page
// docs/runbooks/NAME.md.
const (
	alertSLOFastBurn  = "SyntheticSLOFastBurn"
	alertSLOSlowBurn  = "SyntheticSLOSlowBurn"
	alertSLONoSamples = "SyntheticSLONoSamples"
	// AlertRegression has both severities.
	AlertRegression      = "SyntheticRegression"
	AlertFleetRegression = "SyntheticFleetRegression"
	AlertTargetDown      = "SyntheticTargetDown"
	alertForeignAnswers  = "SyntheticForeignAnswers"
)

// Values of the label sli of burn alerts.
const (
	SLIAvailability = "availability"
	SLILatency      = "latency"
)

// Names of recorded series: the remaining labels, the metric, the operation. All have the labels target,
// workload and slo.
const (
	// recordBudget is the share of turns that an SLO allows to be bad. Records that are divided by it
	// get its label sli, and its label turn if the SLO covers one kind.
	recordBudget = "slo:synthetic_slo_budget:ratio"
	// recordRecovered exists for jobs that burn only because of a fault that is over.
	recordRecovered = "target_workload_slo:synthetic_slo_recovered:group"
	// recordBurning is the burn rate while it is fast enough for a page, recordMayPage while no
	// incident explains it, recordPageBurn during a page.
	recordBurning  = "target_workload_slo:synthetic_slo_burning:ratio"
	recordMayPage  = "target_workload_slo:synthetic_slo_may_page:ratio"
	recordPageBurn = "target_workload_slo:synthetic_slo_page_burn:ratio"
	// recordBudgetRemaining is the remaining share of the error budget: 1 untouched, 0 spent,
	// below 0 overspent.
	recordBudgetRemaining = "target_workload_slo:synthetic_slo_budget_remaining:ratio"

	recordTurnsRate      = "target_workload_slo:synthetic_slo_turns:rate5m"
	recordViolationsRate = "target_workload_slo:synthetic_slo_violations:rate5m"
	recordTurnsSum       = "target_workload_slo:synthetic_slo_turns:sum10m"
	recordViolationsSum  = "target_workload_slo:synthetic_slo_violations:sum10m"
)

// recordBurnRate returns the name of the burn rate over a window; 1 spends exactly the budget.
func recordBurnRate(window time.Duration) string {
	return "target_workload_slo:synthetic_slo_burn:ratio_rate" + slo.FormatDuration(window)
}

// recordViolations returns the name of the number of bad turns within a window.
func recordViolations(window time.Duration) string {
	return "target_workload_slo:synthetic_slo_violations:increase" + slo.FormatDuration(window)
}

// Names of recorded series of targets and workloads.
const (
	// recordConfigured exists for each job of a prober. For jobs of probers that are no longer
	// scraped it exists for a day, from recordLost. Its value is the silence of the job in seconds,
	// which determines its windows.
	recordConfigured = "target_workload:synthetic_configured:max"
	recordLost       = "instance:synthetic_lost_silence:last1d"
	recordLostBeat   = "instance:synthetic_lost_heartbeat:last1d"
	// recordRegression is the score of a regression page; from 1 on it pages.
	recordRegression = "target_workload:synthetic_regression_page_score:max"
	// recordOutage is the number of consecutive failures divided by the number for an outage.
	recordOutage = "target_workload:synthetic_outage:min30s"
	// recordDownPage is recordOutage while it pages: from 1 on, and not part of a shared fault.
	recordDownPage = "target_workload:synthetic_down:max"
	// recordExplained exists for jobs whose slower turns an outage explains; its value is when that was last seen.
	recordExplained = "target_workload:synthetic_outage_explains:timestamp"
	// recordNoToken is the time for which a server that can be read has made no token, if that is
	// longer than long prompts take; recordStuck the same for a server that has requests, running or waiting for a minute.
	recordNoToken = "target:synthetic_server_no_token:seconds"
	recordStuck   = "target:synthetic_server_stuck:seconds"
	// RecordEffect is the largest ratio to the usual, with its signal; RecordPart
	// the additional seconds of the part that explains it.
	RecordEffect = "target_workload:synthetic_regression_ratio:topk1"
	RecordPart   = "target_workload:synthetic_excess_seconds:topk1"
	// recordFailing counts the most frequent failures of now, with their reason. recordBegan is when a fault began.
	recordFailing = "target_workload_reason:synthetic_failing:topk1"
	recordBegan   = "target_workload:synthetic_fault_began:seconds"
	// recordReplicaRatio is the level of a replica divided by the median of its service.
	recordReplicaRatio = "target_workload:synthetic_replica_level:ratio5m"
	// recordTroubled exists for jobs that would take part in a shared fault.
	recordTroubled = "target_workload:synthetic_troubled:group"
	// recordFleet is the number of targets with a shared fault; absent without one.
	recordFleet = "fleet:synthetic_troubled_targets:count"
	// recordIncident is 1 while a page about a job fires. The label cause is one of the Cause
	// constants.
	recordIncident = "target_workload_cause:synthetic_incident:max"
)

// Values of the label cause of recordIncident.
const (
	causeDown  = "down"
	causeSlow  = "slow"
	causeFleet = "fleet"
)

// PageVotes and TicketVotes are the scores of jobs. The average over replicas keeps each from adding its own false pages.
// A replica that has measured nothing for 15 minutes has no vote, unless none has measured anything.
const (
	PageVotes   = votesOf + metrics.PageScore + orAllVotesOf + metrics.PageScore + endOfVotes
	TicketVotes = votesOf + metrics.TicketScore + orAllVotesOf + metrics.TicketScore + endOfVotes

	votesOf = `max by (target, workload) (
            avg by (target, workload, signal) (
              `
	orAllVotesOf = ` and ignoring (__type__, __unit__) max_over_time(synthetic_regression_ratio[15m]) > 0
            )
            or
            avg by (target, workload, signal) (`
	endOfVotes = `)
          )`
)

// Labels that the rules set.
const (
	labelSLI   = "sli"
	labelCause = "cause"
)

// Annotations of the alerts.
const (
	annotationSummary     = "summary"
	annotationDescription = "description"
	annotationRunbook     = "runbook_url"
	annotationDashboard   = "dashboard_url"
	// AnnotationCause is a key of Causes, "" if the cause is unknown; AnnotationSince is when the fault began, as in RFC 3339.
	AnnotationCause = "cause"
	AnnotationSince = "since"
)

// UIDs of the dashboards that alerts link to: part of every link to them, so they never change.
const (
	TargetUID = "synthetic-target"
	ProberUID = "synthetic-prober"
)
