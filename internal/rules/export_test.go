package rules

// Names of alerts and recorded series, for tests.
const (
	AlertForeignAnswers   = alertForeignAnswers
	AlertProxyBuffering   = "SyntheticProxyBuffering"
	AlertSLOFastBurn      = alertSLOFastBurn
	AlertSLONoSamples     = alertSLONoSamples
	AlertSLOSlowBurn      = alertSLOSlowBurn
	RecordBudgetRemaining = recordBudgetRemaining

	// These are only in groups.yml.
	AlertCachedRatioDrop      = "SyntheticCachedRatioDrop"
	AlertOddAnswers           = "SyntheticOddAnswers"
	AlertConversationsSkipped = "SyntheticConversationsSkipped"
	AlertSchedulerStuck       = "SyntheticSchedulerStuck"
	AlertProberStarved        = "SyntheticProberStarved"
	AlertTargetNoSamples      = "SyntheticTargetNoSamples"
	AlertTargetBusy           = "SyntheticTargetBusy"
	AlertProberSilent         = "SyntheticProberSilent"
	AlertReplicaSlow          = "SyntheticReplicaSlow"
	AlertGatewayFallback      = "SyntheticGatewayFallback"
	AlertPagerStalled         = "SyntheticPagerStalled"
	AlertDiscoveryFailing     = "SyntheticDiscoveryFailing"
	AlertConfigReloadFailed   = "SyntheticConfigReloadFailed"
	AlertRulesOutdated        = "SyntheticRulesOutdated"
	AlertBaselineMoved        = "SyntheticBaselineMoved"
	AlertRegressionBlind      = "SyntheticRegressionBlind"
)

var (
	RecordBurnRate   = recordBurnRate
	RecordViolations = recordViolations
)
