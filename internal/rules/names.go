package rules

import (
	"time"

	"synthetic/internal/slo"
)

// Names of alerts that Go code uses. groups.yml has the others. Each has a page
// docs/runbooks/NAME.md.
const (
	AlertSLOFastBurn     = "SyntheticSLOFastBurn"
	AlertSLOSlowBurn     = "SyntheticSLOSlowBurn"
	AlertSLONoSamples    = "SyntheticSLONoSamples"
	AlertBudgetExhausted = "SyntheticErrorBudgetExhausted"
	// AlertRegression has both severities.
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

// Names of recorded series: the remaining labels, the metric, the operation. All have the
// labels target, workload and slo.
const (
	// RecordBudget is the share of turns that an SLO allows to be bad. Its labels sli, and turn
	// if the SLO covers one kind, pass to the results of divisions by it.
	RecordBudget = "slo:synthetic_slo_budget:ratio"
	// RecordPageBurn is the burn rate during a page; absent otherwise.
	RecordPageBurn = "target_workload_slo:synthetic_slo_page_burn:ratio"
	// RecordBudgetRemaining is the remaining share of the error budget: 1 untouched, 0 spent,
	// below 0 overspent.
	RecordBudgetRemaining = "target_workload_slo:synthetic_slo_budget_remaining:ratio"

	recordTurnsRate      = "target_workload_slo:synthetic_slo_turns:rate5m"
	recordViolationsRate = "target_workload_slo:synthetic_slo_violations:rate5m"
	recordTurnsSum       = "target_workload_slo:synthetic_slo_turns:sum10m"
	recordViolationsSum  = "target_workload_slo:synthetic_slo_violations:sum10m"
)

// RecordBurnRate returns the name of the burn rate over a window; 1 spends exactly the budget.
func RecordBurnRate(window time.Duration) string {
	return "target_workload_slo:synthetic_slo_burn:ratio_rate" + slo.FormatDuration(window)
}

// RecordViolations returns the name of the number of bad turns within a window.
func RecordViolations(window time.Duration) string {
	return "target_workload_slo:synthetic_slo_violations:increase" + slo.FormatDuration(window)
}

// Names of recorded series of targets and workloads.
const (
	// RecordConfigured exists for each job of a prober and, for recordLost (a day), for jobs of
	// probers that are no longer scraped. Its value is the silence of the job in seconds, which
	// determines its windows.
	RecordConfigured = "target_workload:synthetic_configured:max"
	recordLost       = "instance:synthetic_lost_silence:last1d"
	recordLostBeat   = "instance:synthetic_lost_heartbeat:last1d"
	// RecordStarved is 1 if every prober of a job was starved within the last two minutes.
	RecordStarved = "target_workload:synthetic_prober_starved:min2m"
	// RecordRegression is the score of a regression page; from 1 on it pages.
	RecordRegression = "target_workload:synthetic_regression_page_score:max"
	// RecordOutage is the number of consecutive failures divided by that of an outage.
	RecordOutage = "target_workload:synthetic_outage:min30s"
	// RecordEffect is the largest ratio to the baseline, with its turn and signal; RecordPart
	// the additional seconds of the part that explains it.
	RecordEffect = "target_workload:synthetic_regression_ratio:topk1"
	RecordPart   = "target_workload:synthetic_excess_seconds:topk1"
	// RecordFleet is the number of targets with a shared fault; absent without one.
	RecordFleet = "fleet:synthetic_troubled_targets:count"
	// RecordIncident is 1 while a page about a job fires. The label cause is one of the Cause
	// constants.
	RecordIncident = "target_workload_cause:synthetic_incident:max"
)

// Values of the label cause of RecordIncident.
const (
	causeDown  = "down"
	causeSlow  = "slow"
	causeFleet = "fleet"
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
	annotationWindows     = "windows"
)

// UIDs of the dashboards that alerts link to.
const (
	dashboardTarget = "synthetic-target-detail"
	dashboardHealth = "synthetic-prober-health"
)
