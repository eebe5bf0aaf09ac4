package rules

// Names of alerts and recorded series of groups.yml.
const (
	AlertTargetDown              = "SyntheticTargetDown"
	AlertTargetBusy              = "SyntheticTargetBusy"
	AlertTargetNoSamples         = "SyntheticTargetNoSamples"
	AlertProberStarved           = "SyntheticProberStarved"
	AlertSchedulerStuck          = "SyntheticSchedulerStuck"
	AlertPagerStalled            = "SyntheticPagerStalled"
	AlertConfigReloadFailed      = "SyntheticConfigReloadFailed"
	AlertConversationsSkipped    = "SyntheticConversationsSkipped"
	AlertUsageMissing            = "SyntheticUsageMissing"
	AlertRulesOutdated           = "SyntheticRulesOutdated"
	AlertFastRegression          = "SyntheticFastRegression"
	AlertSlowRegression          = "SyntheticSlowRegression"
	AlertTailRegression          = "SyntheticTailRegression"
	AlertCachedRatioDrop         = "SyntheticCachedRatioDrop"
	AlertAcceptanceCollapse      = "SyntheticAcceptanceCollapse"
	AlertServerMetricsUnreadable = "SyntheticServerMetricsUnreadable"

	RecordTTFT            = "synthetic:ttft_seconds:quantile30m"
	RecordSlowThreshold   = "synthetic:signal_ratio:slow_threshold"
	RecordAcceptance      = "synthetic:spec_acceptance:ratio15m"
	RecordUsualAcceptance = "synthetic:spec_acceptance:usual7d"
)
