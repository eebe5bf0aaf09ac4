package metrics

// Names of the labels of the pager's metrics.
const (
	labelState        = "state"
	LabelAlertmanager = "alertmanager"
)

// Names of the metrics of the embedded pager.
const (
	PagerEvaluations    = "synthetic_pager_rule_evaluations_total"
	PagerFailures       = "synthetic_pager_rule_evaluation_failures_total"
	PagerLastEvaluation = "synthetic_pager_last_evaluation_timestamp_seconds"
	PagerStalled        = "synthetic_pager_stalled"
	PagerUndelivered    = "synthetic_pager_alerts_undelivered"
)

// PagerCatalog lists the families of the embedded pager, in the order of the
// documentation. They are exported only if the configuration has a section
// alerting. Only the rule for a Prometheus that reports a stalled pager reads them.
func PagerCatalog() []Metric {
	each := []string{LabelAlertmanager}
	return []Metric{
		{PagerEvaluations, Counter, "rules", "Rules that the pager evaluated.", nil},
		{PagerFailures, Counter, "rules", "Rules that the pager could not evaluate.", nil},
		{PagerLastEvaluation, gauge, "seconds", "Unix time at which the pager last evaluated its rules; absent before the first evaluation.", nil},
		{PagerStalled, gauge, "boolean", "1 while the pager has evaluated no rule for five minutes; else 0.", nil},
		{PagerUndelivered, gauge, "alerts", "Alerts in the last failed request to an Alertmanager; 0 once it accepts all again.", each},
	}
}
