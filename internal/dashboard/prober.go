package dashboard

import "github.com/grafana/grafana-foundation-sdk/go/table"

func probers(in Input) *board {
	b := newBoard(in, ProberUID, "Prober", "Can the other dashboards be trusted? The probers, their lag, their traffic and their limits.", varTarget, varWorkload, varInstance)
	b.WithPanel(b.probersTable())
	b.WithPanel(b.chart("Lag", "s", "For more than 5 % of the last minute the prober ran at least this late; 0 below 10 ms. Sending: the mean delay between the scheduled and the actual sending of a turn. Give a prober that lags more CPU.",
		query{"{{instance}}", `max by (instance) (synthetic_prober_lag_seconds)`},
		query{"{{instance}} sending", `sum by (instance) (rate(synthetic_schedule_lag_seconds_sum[$__rate_interval])) / sum by (instance) (rate(synthetic_schedule_lag_seconds_count[$__rate_interval]))`}))
	b.WithPanel(b.chart("CPU", "none", "Processor cores in use.", query{"{{instance}}", `sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]) and on (job, instance) synthetic_build_info)`}))
	b.WithPanel(b.chart("Memory", "bytes", "Resident memory.", query{"{{instance}}", `sum by (instance) (process_resident_memory_bytes and on (job, instance) synthetic_build_info)`}))
	b.WithPanel(b.chart("Conversations per minute", "suffix:/min", "Conversations started, their configured rate, and the rate with bursts at the first sign of a fault; those that ended, failed, were canceled by the prober or shortened; and requests that are no turns.",
		query{"started", perMinute("", "synthetic_conversations_started_total")}, query{"configured", `sum(synthetic_traffic_conversations_per_second) * 60`},
		query{"with bursts", `sum(synthetic_probe_rate_conversations_per_second) * 60`}, query{"ended", perMinute("", "synthetic_conversations_total")},
		query{"failed", perMinute("", "synthetic_conversation_failures_total") + " > 0"}, query{"canceled", perMinute("", "synthetic_conversations_canceled_total") + " > 0"},
		query{"shortened", perMinute("", "synthetic_conversations_shortened_total") + " > 0"}, query{"burst, {{reason}}", perMinute("reason", "synthetic_bursts_total") + " > 0"}, query{"{{purpose}}", perMinute("purpose", "synthetic_other_requests_total") + " > 0"}))
	b.WithPanel(b.chart("Lost to the prober", "suffix:/min", "Samples that are missing because of the prober: conversations that it did not start in time, turns that failed by its own fault, and turns that it could not judge. If conversations are skipped, raise the limit or the budget, or lower the rate.",
		query{"skipped, {{reason}}", perMinute("reason", "synthetic_conversations_skipped_total") + " > 0"}, query{"own fault, {{reason}}", perMinute("reason", "synthetic_turn_own_faults_total") + " > 0"},
		query{"not judged", perMinute("", "synthetic_turns_not_judged_total")}, query{"not logged", perMinute("", "synthetic_turn_log_dropped_total")}))
	b.WithPanel(b.chart("What servers do not say", "percentunit", "Share of the turns without a usable count of tokens, without a TPOT, or in one burst; and of the events that share a read and so a timestamp.",
		query{"usage {{reason}}", share("", "synthetic_usage_missing_total", "synthetic_turns_total")}, query{"no TPOT", share("", "synthetic_tpot_unknown_total", "synthetic_turns_total")},
		query{"one burst", share("", "synthetic_turns_buffered_total", "synthetic_turns_total")}, query{"shared timestamp", share("", "synthetic_coalesced_events_total", "synthetic_token_events_total")}))
	b.WithPanel(b.table("Limits of the process", "The use of each limit, the nearest first. See docs/reference/limits.md.", "Used", []column{
		col("instance", "Prober", "", 0), col("bound", "Limit", "", 0),
		col("Value", "Used", "percentunit", 100, coloured(0, 0.8, 1)...),
	}, `max by (instance, bound) (synthetic_bound_used / synthetic_bound_limit)`).Span(12))
	b.WithPanel(b.chart("Discovered targets", "short", "Targets of each group that are probed, objects that are left out, and on the right axis the time since the discovery last worked.",
		query{"{{group}} probed", `max by (group) (synthetic_discovered_targets)`}, query{"{{group}} left out, {{reason}}", `max by (group, reason) (synthetic_discovery_left_out) > 0`},
		query{"{{group}} last worked", `time() - max by (group) (synthetic_discovery_last_success_timestamp_seconds > 0)`}).Span(12).NoValue("no targets are discovered").OverrideByRegexp("/ last worked$/", right("s")))
	return b
}

func (b *board) probersTable() *table.PanelBuilder {
	every := func(expr string) string {
		return "(" + expr + ") or on (instance) group by (instance) (synthetic_build_info) * NaN"
	}
	failed := texts{"0": "ok", "1": "failed"}
	return b.table("Probers", "One row for each process. Replicas should have similar values. Conv. and Turns: those in flight. Starved: jobs whose turns it is too late to judge. Alive: the oldest sign of life of a job. Reload and Pager: whether the last reload and the embedded pager failed. Unsent: alerts that an Alertmanager has not accepted.",
		"Lag", []column{
			col("instance", "Prober", "", 0), col("version", "Version", "", 110), col("source", "Clock", "", 65), col("Value #A", "Jobs", "none", 50), col("Value #B", "Turns/min", "short", 85, decimals(1)),
			col("Value #C", "Conv.", "none", 60), col("Value #D", "Turns", "none", 60), col("Value #E", "Lag", "s", 75, coloured(1, 0.02, 1)...), col("Value #F", "Starved", "none", 72, coloured(0, 1, 1)...),
			col("Value #G", "Alive", "time:HH:mm", 60), col("Value #H", "Configured", date, 105), col("Value #I", "Reload", "none", 65, append(coloured(0, 1, 1), mapping(failed))...),
			col("Value #J", "Pager", "none", 62, append(coloured(0, 1, 1), mapping(failed))...), col("Value #K", "Rules/s", "none", 68, decimals(1)), col("Value #L", "Rule errors", "none", 88, coloured(0, 1, 1)...),
			col("Value #M", "Last rule", "time:HH:mm", 78), col("Value #N", "Unsent", "none", 65, coloured(0, 1, 1)...),
		},
		every(`count by (instance) (synthetic_scheduler_heartbeat_timestamp_seconds)`), every(`sum by (instance) (rate(synthetic_turns_total[$__rate_interval])) * 60`),
		every(`sum by (instance) (synthetic_conversations_in_flight)`), every(`sum by (instance) (synthetic_turns_in_flight)`), every(`max by (instance) (synthetic_prober_lag_seconds)`), every(`sum by (instance) (synthetic_prober_starved)`),
		every(`1000 * min by (instance) (synthetic_scheduler_heartbeat_timestamp_seconds)`), every(`1000 * max by (instance) (synthetic_config_last_reload_success_timestamp_seconds > 0)`),
		every(`1 - min by (instance) (synthetic_config_last_reload_successful)`), every(`max by (instance) (synthetic_pager_stalled)`),
		every(`sum by (instance) (rate(synthetic_pager_rule_evaluations_total[$__rate_interval]))`), every(`sum by (instance) (increase(synthetic_pager_rule_evaluation_failures_total[$__range]))`),
		every(`1000 * max by (instance) (synthetic_pager_last_evaluation_timestamp_seconds)`), every(`sum by (instance) (synthetic_pager_alerts_undelivered)`),
		every(`max by (instance, version) (synthetic_build_info)`), every(`max by (instance, source) (synthetic_timestamp_source_info)`)).Height(6)
}
