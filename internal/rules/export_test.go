package rules

// Names of alerts and recorded series, for tests.
const (
	AlertForeignAnswers       = alertForeignAnswers
	AlertCachedRatioDrop      = alertCachedRatioDrop
	AlertConversationsSkipped = alertConversationsSkipped
	AlertProberSilent         = alertProberSilent
	AlertProberStarved        = alertProberStarved
	AlertProxyBuffering       = "SyntheticProxyBuffering"
	AlertReplicaSlow          = alertReplicaSlow
	AlertSLOFastBurn          = alertSLOFastBurn
	AlertSLONoSamples         = alertSLONoSamples
	AlertSLOSlowBurn          = alertSLOSlowBurn
	AlertSchedulerStuck       = alertSchedulerStuck
	AlertTargetBusy           = alertTargetBusy
	AlertTargetNoSamples      = alertTargetNoSamples
	AlertOddAnswers           = alertOddAnswers
	RecordBudgetRemaining     = recordBudgetRemaining

	// These are only in groups.yml.
	AlertGatewayFallback    = "SyntheticGatewayFallback"
	AlertPagerStalled       = "SyntheticPagerStalled"
	AlertDiscoveryFailing   = "SyntheticDiscoveryFailing"
	AlertConfigReloadFailed = "SyntheticConfigReloadFailed"
	AlertRulesOutdated      = "SyntheticRulesOutdated"
	AlertBaselineMoved      = "SyntheticBaselineMoved"
	AlertRegressionBlind    = "SyntheticRegressionBlind"
)

var (
	RecordBurnRate   = recordBurnRate
	RecordViolations = recordViolations
)
