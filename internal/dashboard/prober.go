package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

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
		query{"failed", perMinute("", "synthetic_conversation_failures_total")}, query{"canceled", perMinute("", "synthetic_conversations_canceled_total")},
		query{"shortened", perMinute("", "synthetic_conversations_shortened_total")}, query{"burst, {{reason}}", perMinute("reason", "synthetic_bursts_total")},
		query{"{{purpose}}", perMinute("purpose", "synthetic_other_requests_total")}))
	b.WithPanel(b.chart("Lost to the prober", "suffix:/min", "What says nothing about a target: conversations that were due and not started, turns that the prober failed, and turns that it could not judge. Skipped conversations are missing samples: raise the limit or the budget, or lower the rate.",
		query{"skipped, {{reason}}", perMinute("reason", "synthetic_conversations_skipped_total")}, query{"own fault, {{reason}}", perMinute("reason", "synthetic_turn_own_faults_total")},
		query{"not judged", perMinute("", "synthetic_turns_not_judged_total")}, query{"not logged", perMinute("", "synthetic_turn_log_dropped_total")}))
	b.WithPanel(b.chart("What servers do not say", "percentunit", "Share of the turns without a usable count of tokens, without a TPOT, or in one burst; and of the events that share a read and so a timestamp.",
		query{"usage {{reason}}", share("", "synthetic_usage_missing_total", "synthetic_turns_total")}, query{"no TPOT", share("", "synthetic_tpot_unknown_total", "synthetic_turns_total")},
		query{"one burst", share("", "synthetic_turns_buffered_total", "synthetic_turns_total")}, query{"shared timestamp", share("", "synthetic_coalesced_events_total", "synthetic_token_events_total")}))
	b.WithPanel(b.table("Limits of the process", "The use of each limit, the nearest first. See docs/reference/limits.md.", "Used", []column{
		{"instance", "Prober", "", 0, nil}, {"bound", "Limit", "", 0, nil},
		{"Value", "Used", "percentunit", 100, append(coloured(level{0.8, orange}, level{1, red}), decimals(0))},
	}, `max by (instance, bound) (synthetic_bound_used / synthetic_bound_limit)`).Span(12))
	b.WithPanel(b.table("Discovery", "Groups of discovered targets: how many are probed and left out, when the source last answered, and whether it fails.", "Failing", []column{
		{"group", "Group", "", 0, nil}, {"Value #A", "Probed", "none", 80, nil}, {"Value #B", "Left out", "none", 80, nil},
		{"Value #C", "Last answer", "time:MMM D, HH:mm", 120, nil}, {"Value #D", "Failing", "none", 80, append(coloured(level{1, red}), mapping(yesNo()))},
	}, `max by (group) (synthetic_discovered_targets)`, `max by (group) (sum by (instance, group) (synthetic_discovery_left_out))`,
		`1000 * max by (group) (synthetic_discovery_last_success_timestamp_seconds)`, `max by (group) (synthetic_discovery_failing)`).Span(12).NoValue("no targets are discovered"))
	return b
}

func yesNo() texts { return texts{"0": {"no", ""}, "1": {"yes", ""}} }

func (b *board) probersTable() *table.PanelBuilder {
	every := func(expr string) string {
		return "(" + expr + ") or on (instance) group by (instance) (synthetic_build_info) * NaN"
	}
	date := "time:MMM D, HH:mm"
	return b.table("Probers", "One row for each process. Replicas should have similar values. Starved: jobs whose turns it is too late to judge. Undelivered: alerts of its pager that an Alertmanager has not accepted. In flight: conversations and turns.",
		"Lag", []column{
			{"instance", "Prober", "", 0, nil}, {"version", "Version", "", 100, nil}, {"source", "Clock", "", 70, nil},
			{"Value #A", "Jobs", "none", 60, nil}, {"Value #B", "Turns/min", "short", 85, []dashboard.DynamicConfigValue{decimals(1)}},
			{"Value #C", "In flight", "none", 80, nil}, {"Value #D", "Turns", "none", 65, nil},
			{"Value #E", "Lag", "s", 80, append(coloured(level{0.02, orange}, level{1, red}), decimals(3))},
			{"Value #F", "Starved", "none", 75, coloured(level{1, red})}, {"Value #G", "Last sign of life", date, 125, nil},
			{"Value #H", "Configuration of", date, 125, nil}, {"Value #I", "Reload failed", "none", 100, append(coloured(level{1, red}), mapping(yesNo()))},
			{"Value #J", "Pager stalled", "none", 105, append(coloured(level{1, red}), mapping(yesNo()))}, {"Value #K", "Rules/s", "none", 75, []dashboard.DynamicConfigValue{decimals(1)}},
			{"Value #L", "Rules failed", "none", 95, coloured(level{1, red})}, {"Value #M", "Last rule", date, 125, nil},
			{"Value #N", "Undelivered", "none", 95, coloured(level{1, red})},
		},
		every(`count by (instance) (synthetic_scheduler_heartbeat_timestamp_seconds)`), every(`sum by (instance) (rate(synthetic_turns_total[$__rate_interval])) * 60`),
		every(`sum by (instance) (synthetic_conversations_in_flight)`), every(`sum by (instance) (synthetic_turns_in_flight)`),
		every(`max by (instance) (synthetic_prober_lag_seconds)`), every(`sum by (instance) (synthetic_prober_starved)`),
		every(`1000 * min by (instance) (synthetic_scheduler_heartbeat_timestamp_seconds)`), every(`1000 * max by (instance) (synthetic_config_last_reload_success_timestamp_seconds > 0)`),
		every(`1 - min by (instance) (synthetic_config_last_reload_successful)`), every(`max by (instance) (synthetic_pager_stalled)`),
		every(`sum by (instance) (rate(synthetic_pager_rule_evaluations_total[$__rate_interval]))`), every(`sum by (instance) (increase(synthetic_pager_rule_evaluation_failures_total[$__range]))`),
		every(`1000 * max by (instance) (synthetic_pager_last_evaluation_timestamp_seconds)`), every(`sum by (instance) (synthetic_pager_alerts_undelivered)`),
		every(`max by (instance, version) (synthetic_build_info)`), every(`max by (instance, source) (synthetic_timestamp_source_info)`)).Height(6)
}
