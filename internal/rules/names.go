package rules

import (
	"time"

	"synthetic/internal/slo"
)

// Names of the alerts on an objective, and of the one that is never held back;
// those of the others are in groups.yml. Each has docs/runbooks/<name>.md.
const (
	AlertSLOFastBurn     = "SyntheticSLOFastBurn"
	AlertSLOSlowBurn     = "SyntheticSLOSlowBurn"
	AlertSLONoSamples    = "SyntheticSLONoSamples"
	AlertBudgetExhausted = "SyntheticErrorBudgetExhausted"
	AlertProberSilent    = "SyntheticProberSilent"
)

// Names of recorded series that have one window each. Their labels are target,
// workload and slo, and turn where the SLO is restricted to one kind of turn.
const (
	// RecordBurnRate is how many times faster than allowed the error budget is
	// spent, over the last hour; 1 is exactly as allowed.
	RecordBurnRate = "synthetic:slo_burn_rate:ratio_rate1h"
	// RecordBudgetRemaining is the share of the error budget that is left of
	// the SLO's window: 1 untouched, 0 spent, below 0 overspent.
	RecordBudgetRemaining = "synthetic:slo_error_budget_remaining:ratio"

	// RecordStarved is 1 while every prober of a job is in no state to judge it, or
	// was within the last two minutes.
	RecordStarved = "synthetic:prober_starved:all2m"

	recordTurnsRate      = "synthetic:slo_turns:rate5m"
	recordViolationsRate = "synthetic:slo_violations:rate5m"
)

// RecordErrorRatio names the share of judged turns that were bad, over window.
func RecordErrorRatio(window time.Duration) string {
	return "synthetic:slo_error_ratio:rate" + slo.Short(window)
}

// RecordViolations names the number of bad turns within window.
func RecordViolations(window time.Duration) string {
	return "synthetic:slo_violations:increase" + slo.Short(window)
}

// Names of recorded series of the regression alerts that annotations show. Their
// labels are target, workload and turn.
const (
	// RecordPrefill is the slope of the TTFT over the uncached prompt tokens, in
	// seconds per token, and RecordQueue its value at none, in seconds.
	RecordPrefill = "synthetic:prefill_seconds_per_token:line30m"
	RecordQueue   = "synthetic:queue_seconds:line30m"
)

// RecordGeomean names the geometric mean, over window, of the ratio of a signal
// to its baseline.
func RecordGeomean(window time.Duration) string {
	return "synthetic:signal_ratio:geomean" + slo.Short(window)
}

// Labels that the rules put on what they record and raise.
const (
	labelSeverity = "severity"
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
