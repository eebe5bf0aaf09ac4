package metrics

// Names of the labels of the pager's metrics.
const (
	labelState        = "state"
	LabelAlertmanager = "alertmanager"
	labelSeverity     = "severity"
	labelSummary      = "summary"
	labelCause        = "cause"
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

	IncidentInfo    = "synthetic_incident_info"
	IncidentLastEnd = "synthetic_incident_last_end_timestamp_seconds"
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
		{PagerMissed, Counter, "evaluations", "Evaluations of rule groups that were skipped because earlier evaluations took too long.", nil},
		{PagerDuration, gauge, "seconds", "Duration of the last evaluation of the slowest rule group.", nil},
		{PagerLastEvaluation, gauge, "seconds", "Unix time of the last evaluation of the rule group that was evaluated least recently; absent before the first evaluation.", nil},
		{PagerAlerts, gauge, "alerts", "Pending and firing alerts, by state.", []string{labelState}},
		{PagerStalled, gauge, "boolean", "1 while the pager stores and evaluates nothing, because its disk is full or its storage failed; else 0.", nil},
		{PagerSeries, gauge, "series", "Exported series that the pager stores.", nil},
		{PagerRefused, Counter, "samples", "Samples that the pager did not store, because its disk was full or they were out of order.", nil},
		{PagerNotifications, Counter, "requests", "Requests that an Alertmanager accepted, by its host and path.", each},
		{PagerNotifyFailures, Counter, "requests", "Requests that failed; their alerts are sent again.", each},
		{PagerRejected, Counter, "alerts", "Alerts that an Alertmanager rejected, so that it does not notify about them.", each},
		{PagerUndelivered, gauge, "alerts", "Alerts whose latest state an Alertmanager has not accepted yet.", each},
		{PagerLastNotification, gauge, "seconds", "Unix time at which an Alertmanager last accepted a request; absent before the first.", each},
		{IncidentInfo, gauge, "", "An open incident in the words of the status page; always 1. Absent without one; of more than 100, the worst have a series. The texts change at most once a minute. severity is page while a page fires, else ticket; since is in RFC 3339; factor is the largest ratio to the baseline; cause is what the server's own metrics show; runbook and path are paths of this process, whose configured address is external_url. An empty label means unknown.", []string{
			LabelTarget, LabelWorkload, labelSeverity, labelSummary, "since", "factor", "likely_part", labelCause, "runbook", "path", "external_url",
		}},
		{IncidentLastEnd, gauge, "seconds", "Unix time at which the latest finished incident ended; absent if none is known.", nil},
	}
}

// Names of the labels of a sweep's metrics.
const (
	labelVariant = "variant"
	labelLevel   = "level"
	LabelShard   = "shard"
	labelOutcome = "outcome"
)

// Names of the metrics of a running sweep.
const (
	StudyPhase                 = "synthetic_study_phase"
	StudyLoad                  = "synthetic_study_load"
	StudyConversationsStarted  = "synthetic_study_conversations_started_total"
	StudyConversationsInFlight = "synthetic_study_conversations_in_flight"
	StudyTurnsInFlight         = "synthetic_study_turns_in_flight"
	StudyTurns                 = "synthetic_study_turns_total"
	StudyOutputTokens          = "synthetic_study_output_tokens_total"
	StudyTTFT                  = "synthetic_study_ttft_seconds"
	StudyTPOT                  = "synthetic_study_tpot_seconds"
	StudyITL                   = "synthetic_study_itl_seconds"
	StudyTurnDuration          = "synthetic_study_turn_duration_seconds"
	StudyRecallTurns           = "synthetic_study_recall_turns_total"
	StudyLevelsDone            = "synthetic_study_levels_done"
	StudyLevelsToCome          = "synthetic_study_levels_to_come"
	StudyLeft                  = "synthetic_study_left_seconds"
)

// StudyCatalog lists the families of "synthetic sweep --web.listen-address", in the
// order of the documentation.
func StudyCatalog() []Metric {
	level := []string{labelVariant, labelLevel, LabelShard}
	turn := []string{labelVariant, labelLevel, LabelTurn, LabelShard}
	return []Metric{
		{StudyPhase, gauge, "", "Current phase and level of the sweep; always 1.", []string{labelVariant, labelLevel, labelPhase, LabelShard}},
		{StudyLoad, gauge, "", "Load that the shard generates in the current level: conversations in flight in a closed loop, conversation starts per second in an open loop. The load of the level is the sum over the shards.", []string{labelVariant, labelLevel, "kind", LabelShard}},
		{StudyConversationsStarted, Counter, "conversations", "Conversations started in a level, warm-up and tail included.", level},
		{StudyConversationsInFlight, gauge, "conversations", "Conversations started and not yet ended, also between two turns.", level},
		{StudyTurnsInFlight, gauge, "turns", "Turns sent and not yet ended.", level},
		{StudyTurns, Counter, "turns", "Turns ended in a level, warm-up and tail included, by outcome.", []string{labelVariant, labelLevel, LabelTurn, labelOutcome, LabelShard}},
		{StudyOutputTokens, Counter, "tokens", "Output tokens of these turns.", turn},
		{StudyTTFT, Histogram, "seconds", "Time to first token of these turns.", turn},
		{StudyTPOT, Histogram, "seconds", "Time per output token of these turns.", turn},
		{StudyITL, Histogram, "seconds", "Inter-token latency of these turns.", turn},
		{StudyTurnDuration, Histogram, "seconds", "Time from sending a turn to the end of its stream, for the successful turns among them.", turn},
		{StudyRecallTurns, Counter, "turns", "Turns of a level judged by reference codes, with the labels of synthetic_recall_turns_total. The series of foreign answers exists from the first judged turn on. Absent without recall.", []string{labelVariant, labelLevel, LabelResult, labelCached, labelDepth, LabelShard}},
		{StudyLevelsDone, gauge, "levels", "Finished levels.", []string{LabelShard}},
		{StudyLevelsToCome, gauge, "levels", "Remaining levels, including the current one; for a search, the largest possible number.", []string{LabelShard}},
		{StudyLeft, gauge, "seconds", "Estimated time to the end of the sweep.", []string{LabelShard}},
	}
}
