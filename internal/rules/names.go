package rules

import (
	"time"

	"synthetic/internal/slo"
)

// Names of alerts. Each has docs/runbooks/<name>.md.
const (
	AlertSLOFastBurn          = "SyntheticSLOFastBurn"
	AlertSLOSlowBurn          = "SyntheticSLOSlowBurn"
	AlertSLONoSamples         = "SyntheticSLONoSamples"
	AlertTargetDown           = "SyntheticTargetDown"
	AlertTargetBusy           = "SyntheticTargetBusy"
	AlertTargetNoSamples      = "SyntheticTargetNoSamples"
	AlertProberSilent         = "SyntheticProberSilent"
	AlertProberLagging        = "SyntheticProberLagging"
	AlertSchedulerStuck       = "SyntheticSchedulerStuck"
	AlertConfigReloadFailed   = "SyntheticConfigReloadFailed"
	AlertConversationsSkipped = "SyntheticConversationsSkipped"
	AlertUsageMissing         = "SyntheticUsageMissing"
	AlertRulesOutdated        = "SyntheticRulesOutdated"
	AlertFastRegression       = "SyntheticFastRegression"
	AlertSlowRegression       = "SyntheticSlowRegression"
	AlertTailRegression       = "SyntheticTailRegression"
	AlertCachedRatioDrop      = "SyntheticCachedRatioDrop"
	AlertBudgetExhausted      = "SyntheticErrorBudgetExhausted"
	AlertAcceptanceCollapse   = "SyntheticAcceptanceCollapse"

	AlertServerMetricsUnreadable = "SyntheticServerMetricsUnreadable"
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

// RecordTTFT names the quantiles of the time to first token, by target,
// workload, turn and quantile, in seconds, of turns that got a first token.
const RecordTTFT = "synthetic:ttft_seconds:quantile30m"

// Names of recorded series of the regression alerts. Their labels are target,
// workload and turn, and signal where they are about one.
const (
	// RecordSlowThreshold is the ratio to the baseline from which on a level is
	// no noise any more.
	RecordSlowThreshold = "synthetic:signal_ratio:slow_threshold"
	// RecordCachedRatio is the share of prompt tokens that came from the prefix
	// cache.
	RecordCachedRatio = "synthetic:cached_ratio:rate30m"
	// RecordPrefill is the slope of the TTFT over the uncached prompt tokens, in
	// seconds per token, and RecordQueue its value at none, in seconds.
	RecordPrefill = "synthetic:prefill_seconds_per_token:line30m"
	RecordQueue   = "synthetic:queue_seconds:line30m"
)

// Names of recorded series on speculative decoding, by target.
const (
	// RecordAcceptance is the share of drafted tokens that were accepted, where
	// enough were drafted to tell.
	RecordAcceptance = "synthetic:spec_acceptance:ratio15m"
	// RecordUsualAcceptance is what is usual of it.
	RecordUsualAcceptance = "synthetic:spec_acceptance:usual7d"
)

// RecordGeomean names the geometric mean, over window, of the ratio of a signal
// to its baseline.
func RecordGeomean(window time.Duration) string {
	return "synthetic:signal_ratio:geomean" + slo.Short(window)
}

// RecordTailShare names the share of turns in the tail, over window.
func RecordTailShare(window time.Duration) string {
	return "synthetic:tail_share:rate" + slo.Short(window)
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
