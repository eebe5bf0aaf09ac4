package metrics

// Names of the labels of the pager's metrics.
const (
	labelState        = "state"
	LabelAlertmanager = "alertmanager"
)

// Names of the metrics of the embedded pager.
const (
	PagerEvaluations      = "synthetic_pager_rule_evaluations_total"
	PagerFailures         = "synthetic_pager_rule_evaluation_failures_total"
	PagerLastEvaluation   = "synthetic_pager_last_evaluation_timestamp_seconds"
	PagerAlerts           = "synthetic_pager_alerts"
	PagerStalled          = "synthetic_pager_stalled"
	PagerSeries           = "synthetic_pager_series"
	PagerNotifications    = "synthetic_pager_notifications_total"
	PagerNotifyFailures   = "synthetic_pager_notification_failures_total"
	PagerUndelivered      = "synthetic_pager_alerts_undelivered"
	PagerLastNotification = "synthetic_pager_last_notification_timestamp_seconds"
)

// PagerStates are the values of the state label.
func PagerStates() []string { return []string{"pending", "firing"} }

// PagerCatalog lists the families of the embedded pager, in the order of the
// documentation. They are exported only if the configuration has a section
// alerting. Only the rule for a Prometheus that reports a stalled pager reads them.
func PagerCatalog() []Metric {
	each := []string{LabelAlertmanager}
	return []Metric{
		{PagerEvaluations, Counter, "rules", "Rules that the pager evaluated.", nil},
		{PagerFailures, Counter, "rules", "Rules that the pager could not evaluate.", nil},
		{PagerLastEvaluation, gauge, "seconds", "Unix time of the last evaluation of the rule group that was evaluated least recently; absent before the first evaluation.", nil},
		{PagerAlerts, gauge, "alerts", "Pending and firing alerts, by state.", []string{labelState}},
		{PagerStalled, gauge, "boolean", "1 while the pager has evaluated no rule for five minutes; else 0.", nil},
		{PagerSeries, gauge, "series", "Exported series that the pager stores.", nil},
		{PagerNotifications, Counter, "requests", "Requests that an Alertmanager accepted.", each},
		{PagerNotifyFailures, Counter, "requests", "Requests that failed; their alerts are sent again.", each},
		{PagerUndelivered, gauge, "alerts", "Alerts in the last request to an Alertmanager, if that failed; else 0.", each},
		{PagerLastNotification, gauge, "seconds", "Unix time at which an Alertmanager last accepted a request; absent before the first.", each},
	}
}
