package rules

// Names of alerts and recorded series of groups.yml.
const (
	AlertPagerStalled       = "SyntheticPagerStalled"
	AlertDiscoveryFailing   = "SyntheticDiscoveryFailing"
	AlertConfigReloadFailed = "SyntheticConfigReloadFailed"
	AlertRulesOutdated      = "SyntheticRulesOutdated"
	AlertBaselineYoung      = "SyntheticBaselineYoung"
	AlertBaselineMoved      = "SyntheticBaselineMoved"
	AlertRegressionBlind    = "SyntheticRegressionBlind"

	RecordAcceptance      = "target:synthetic_spec_acceptance:ratio_increase15m"
	RecordUsualAcceptance = "target:synthetic_spec_acceptance:quantile7d"
)
