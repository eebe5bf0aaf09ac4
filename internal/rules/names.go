package rules

import (
	"time"

	"synthetic/internal/slo"
)

// Names of the alerts that Go code speaks of; those of the others are in
// groups.yml. Each has docs/runbooks/<name>.md.
const (
	AlertSLOFastBurn     = "SyntheticSLOFastBurn"
	AlertSLOSlowBurn     = "SyntheticSLOSlowBurn"
	AlertSLONoSamples    = "SyntheticSLONoSamples"
	AlertBudgetExhausted = "SyntheticErrorBudgetExhausted"
	// AlertRegression has the severity of a page or of a ticket.
	AlertRegression      = "SyntheticRegression"
	AlertFleetRegression = "SyntheticFleetRegression"
	AlertTargetDown      = "SyntheticTargetDown"
	AlertReplicaSlow     = "SyntheticReplicaSlow"
	AlertProberSilent    = "SyntheticProberSilent"

	AlertProxyBuffering          = "SyntheticProxyBuffering"
	AlertTargetBusy              = "SyntheticTargetBusy"
	AlertTargetNoSamples         = "SyntheticTargetNoSamples"
	AlertProberStarved           = "SyntheticProberStarved"
	AlertSchedulerStuck          = "SyntheticSchedulerStuck"
	AlertConversationsSkipped    = "SyntheticConversationsSkipped"
	AlertUsageMissing            = "SyntheticUsageMissing"
	AlertCachedRatioDrop         = "SyntheticCachedRatioDrop"
	AlertAcceptanceCollapse      = "SyntheticAcceptanceCollapse"
	AlertAnswersGarbled          = "SyntheticAnswersGarbled"
	AlertAnswersChanged          = "SyntheticAnswersChanged"
	AlertServerMetricsUnreadable = "SyntheticServerMetricsUnreadable"
)

// Names of recorded series that have one window each: the labels that are left,
// the metric, what was done with it. All of the labels target, workload and slo.
const (
	// RecordBudget is the share of turns that an SLO allows to be bad, by slo. Its
	// labels sli, and turn where only one kind of turn is judged, go over to what is
	// divided by it.
	RecordBudget = "slo:synthetic_slo_budget:ratio"
	// RecordPageBurn is the burn rate while it is a page, and absent otherwise.
	RecordPageBurn = "target_workload_slo:synthetic_slo_page_burn:ratio"
	// RecordBudgetRemaining is the share of the error budget that is left of
	// the SLO's window: 1 untouched, 0 spent, below 0 overspent.
	RecordBudgetRemaining = "target_workload_slo:synthetic_slo_budget_remaining:ratio"

	recordTurnsRate      = "target_workload_slo:synthetic_slo_turns:rate5m"
	recordViolationsRate = "target_workload_slo:synthetic_slo_violations:rate5m"
	recordTurnsSum       = "target_workload_slo:synthetic_slo_turns:sum10m"
	recordViolationsSum  = "target_workload_slo:synthetic_slo_violations:sum10m"
)

// RecordBurnRate names how many times faster than allowed the error budget is
// spent, over window; 1 is exactly as allowed.
func RecordBurnRate(window time.Duration) string {
	return "target_workload_slo:synthetic_slo_burn:ratio_rate" + slo.FormatDuration(window)
}

// RecordViolations names the number of bad turns within window.
func RecordViolations(window time.Duration) string {
	return "target_workload_slo:synthetic_slo_violations:increase" + slo.FormatDuration(window)
}

// Names of recorded series of targets and workloads.
const (
	// RecordConfigured is there for each job that a prober runs, and for those of
	// probers that are no longer scraped; of these, recordLost for a day. Its value
	// is the silence of the job in seconds, from which its windows follow.
	RecordConfigured = "target_workload:synthetic_configured:max"
	recordLost       = "instance:synthetic_lost_silence:last1d"
	recordLostBeat   = "instance:synthetic_lost_heartbeat:last1d"
	// RecordStarved is 1 while every prober of a job is in no state to judge it, or
	// was within the last two minutes.
	RecordStarved = "target_workload:synthetic_prober_starved:min2m"
	// RecordRegression is how near the job is to a page on a regression: from 1 on
	// it is one.
	RecordRegression = "target_workload:synthetic_regression_page_score:max"
	// RecordOutage is the share of the failures in a row that are an outage.
	RecordOutage = "target_workload:synthetic_outage:min30s"
	// RecordEffect is the largest ratio to the usual, with its turn and signal, and
	// RecordPart the seconds more of the part of a turn that explains it.
	RecordEffect = "target_workload:synthetic_regression_ratio:topk1"
	RecordPart   = "target_workload:synthetic_excess_seconds:topk1"
	// RecordFleet counts the targets that have a fault they share, and is absent
	// otherwise.
	RecordFleet = "fleet:synthetic_troubled_targets:count"
	// RecordIncident is 1 while something pages about a job; its cause is one of
	// the Cause constants.
	RecordIncident = "target_workload_cause:synthetic_incident:max"
)

// Values of the label cause of RecordIncident.
const (
	causeDown  = "down"
	causeSlow  = "slow"
	causeFleet = "fleet"
)

// Labels that the rules put on what they record and raise.
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
	annotationWindows     = "windows"
)

// UIDs of the dashboards that alerts link to.
const (
	dashboardTarget = "synthetic-target-detail"
	dashboardHealth = "synthetic-prober-health"
)
