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
	PagerMissed           = "synthetic_pager_evaluations_missed_total"
	PagerDuration         = "synthetic_pager_evaluation_duration_seconds"
	PagerLastEvaluation   = "synthetic_pager_last_evaluation_timestamp_seconds"
	PagerAlerts           = "synthetic_pager_alerts"
	PagerStalled          = "synthetic_pager_stalled"
	PagerSeries           = "synthetic_pager_series"
	PagerRefused          = "synthetic_pager_samples_refused_total"
	PagerNotifications    = "synthetic_pager_notifications_total"
	PagerNotifyFailures   = "synthetic_pager_notification_failures_total"
	PagerRejected         = "synthetic_pager_alerts_rejected_total"
	PagerUndelivered      = "synthetic_pager_alerts_undelivered"
	PagerLastNotification = "synthetic_pager_last_notification_timestamp_seconds"
)

// PagerStates are the values of the state label.
func PagerStates() []string { return []string{"pending", "firing"} }

// PagerCatalog lists the families of the embedded pager, in the order of the
// documentation. They are exported only where the configuration has a section
// alerting. The only rule that reads them is one for a Prometheus: that the pager
// itself stands still.
func PagerCatalog() []Metric {
	each := []string{LabelAlertmanager}
	return []Metric{
		{PagerEvaluations, Counter, "rules", "Rules that the pager evaluated.", nil},
		{PagerFailures, Counter, "rules", "Rules that the pager could not evaluate.", nil},
		{PagerMissed, Counter, "evaluations", "Evaluations of rule groups left out because those before took too long.", nil},
		{PagerDuration, gauge, "seconds", "What the last evaluation of the slowest rule group took.", nil},
		{PagerLastEvaluation, gauge, "seconds", "Unix time of the last evaluation of the rule group that waits longest; absent before the first.", nil},
		{PagerAlerts, gauge, "alerts", "Alerts that wait (pending) or fire.", []string{labelState}},
		{PagerStalled, gauge, "boolean", "1 while the pager stores and evaluates nothing, for want of room on its disk or since its storage failed; 0 otherwise.", nil},
		{PagerSeries, gauge, "series", "Series that the pager stores of what the process exports.", nil},
		{PagerRefused, Counter, "samples", "Samples that the pager did not store, for want of room or out of order.", nil},
		{PagerNotifications, Counter, "requests", "Requests that an Alertmanager took, by its host and path.", each},
		{PagerNotifyFailures, Counter, "requests", "Requests that an Alertmanager did not take; their alerts are sent again until it does.", each},
		{PagerRejected, Counter, "alerts", "Alerts that an Alertmanager refused, and that it does not page.", each},
		{PagerUndelivered, gauge, "alerts", "Alerts whose latest state an Alertmanager does not know yet.", each},
		{PagerLastNotification, gauge, "seconds", "Unix time when an Alertmanager last took a request; absent before the first.", each},
	}
}
