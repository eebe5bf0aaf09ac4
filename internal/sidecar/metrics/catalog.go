// Package metrics owns every metric that synthetic exports: the catalog of
// names, and the Recorder that turns probe results into series. Rules,
// dashboards and docs/reference/metrics.md derive from the catalog, so a name exists in
// one place.
package metrics

// Kind is a metric's type.
type Kind string

const (
	Counter   Kind = "counter"
	gauge     Kind = "gauge"
	Histogram Kind = "histogram"
	Summary   Kind = "summary"
)

// Names of labels.
const (
	LabelTarget   = "target"
	LabelService  = "service"
	LabelWorkload = "workload"
	LabelTurn     = "turn"
	LabelReason   = "reason"
	labelPhase    = "phase"
	LabelSLO      = "slo"
	LabelSignal   = "signal"
	LabelPart     = "part"
	LabelTraceID  = "trace_id"
	labelBound    = "bound"
	labelGroup    = "group"
	labelPurpose  = "purpose"
	LabelURL      = "url"
	labelFinish   = "finish_reason"
	// LabelResult, labelCached and labelDepth say how an answer with a reference code was judged.
	LabelResult = "result"
	labelCached = "cached"
	labelDepth  = "depth"
	// labelBackend names a server behind a gateway.
	labelBackend = "backend"
	// labelSession says whether a turn reached the worker of the previous one.
	labelSession = "session"
)

// Names of metrics.
const (
	ttft          = "synthetic_ttft_seconds"
	tpot          = "synthetic_tpot_seconds"
	PhaseDuration = "synthetic_phase_duration_seconds"
	ScheduleLag   = "synthetic_schedule_lag_seconds"
	ProberLag     = "synthetic_prober_lag_seconds"
	ProberStarved = "synthetic_prober_starved"

	ttftWindow         = "synthetic_ttft_window_seconds"
	tpotWindow         = "synthetic_tpot_window_seconds"
	turnDurationWindow = "synthetic_turn_duration_window_seconds"

	turnsStarted   = "synthetic_turns_started_total"
	Turns          = "synthetic_turns_total"
	turnsInFlight  = "synthetic_turns_in_flight"
	TurnFailures   = "synthetic_turn_failures_total"
	TurnOwnFaults  = "synthetic_turn_own_faults_total"
	TurnsCanceled  = "synthetic_turns_canceled_total"
	turnsNotJudged = "synthetic_turns_not_judged_total"
	TurnsBuffered  = "synthetic_turns_buffered_total"
	otherRequests  = "synthetic_other_requests_total"

	ConversationsStarted  = "synthetic_conversations_started_total"
	conversations         = "synthetic_conversations_total"
	conversationFailures  = "synthetic_conversation_failures_total"
	conversationsCanceled = "synthetic_conversations_canceled_total"
	ConversationsSkipped  = "synthetic_conversations_skipped_total"
	conversationsInFlight = "synthetic_conversations_in_flight"
	conversationsShort    = "synthetic_conversations_shortened_total"

	FinishReasons = "synthetic_finish_reasons_total"

	GatewayTurns         = "synthetic_gateway_turns_total"
	GatewayRetries       = "synthetic_gateway_retries_total"
	GatewayFallbacks     = "synthetic_gateway_fallbacks_total"
	GatewayFallbackSince = "synthetic_gateway_fallback_since_timestamp_seconds"
	GatewayOverhead      = "synthetic_gateway_overhead_seconds"

	sessionTurns        = "synthetic_session_turns_total"
	sessionPromptTokens = "synthetic_session_prompt_tokens_total"
	sessionCachedTokens = "synthetic_session_cached_prompt_tokens_total"

	PromptTokens       = "synthetic_prompt_tokens_total"
	CachedPromptTokens = "synthetic_cached_prompt_tokens_total"
	CacheKnownPrompt   = "synthetic_cache_reported_prompt_tokens_total"
	OutputTokens       = "synthetic_output_tokens_total"
	reasoningTokens    = "synthetic_reasoning_tokens_total"
	turnsWithoutAnswer = "synthetic_turns_without_answer_total"
	UsageMissing       = "synthetic_usage_missing_total"
	coalescedEvents    = "synthetic_coalesced_events_total"
	otherModelTurns    = "synthetic_other_model_turns_total"
	tpotUnknown        = "synthetic_tpot_unknown_total"
	ContextCut         = "synthetic_context_cut_total"
	contextCutPrompt   = "synthetic_context_cut_prompt_tokens"
	contextCutPrevious = "synthetic_context_cut_previous_prompt_tokens"
	RecallTurns        = "synthetic_recall_turns_total"
	tokenEvents        = "synthetic_token_events_total"

	LastTurn          = "synthetic_last_turn_timestamp_seconds"
	ConsecutiveFailed = "synthetic_consecutive_failed_turns"
	Failing           = "synthetic_failing_seconds"

	SignalTurns     = "synthetic_signal_turns_total"
	SignalLog2      = "synthetic_signal_log2_total"
	Baseline        = "synthetic_baseline_seconds"
	PageScore       = "synthetic_regression_page_score"
	TicketScore     = "synthetic_regression_ticket_score"
	RegressionRatio = "synthetic_regression_ratio"
	RegressionSince = "synthetic_regression_since_timestamp_seconds"
	RegressionLimit = "synthetic_regression_limit_ratio"
	Detectable      = "synthetic_regression_detectable_ratio"
	BaselineMoved   = "synthetic_baseline_moved_timestamp_seconds"
	Excess          = "synthetic_excess_seconds"
	CachedBaseline  = "synthetic_cached_baseline_ratio"

	SLOTurns      = "synthetic_slo_turns_total"
	SLOViolations = "synthetic_slo_violations_total"
	SLOMissing    = "synthetic_slo_missing"
	SLOObjective  = "synthetic_slo_objective_ratio"
	SLOThreshold  = "synthetic_slo_threshold_seconds"
	SLOSlope      = "synthetic_slo_threshold_seconds_per_1k_uncached_tokens"
	SLOWindow     = "synthetic_slo_window_seconds"

	ServerMetricsUp   = "synthetic_server_metrics_up"
	ServerRunning     = "synthetic_server_requests_running"
	ServerWaiting     = "synthetic_server_requests_waiting"
	ServerKVUse       = "synthetic_server_kv_cache_usage_ratio"
	ServerPreemptions = "synthetic_server_preemptions_total"
	ServerTokenAge    = "synthetic_server_token_age_seconds"

	targetInfo          = "synthetic_target_info"
	TrafficRate         = "synthetic_traffic_conversations_per_second"
	probeRate           = "synthetic_probe_rate_conversations_per_second"
	bursts              = "synthetic_bursts_total"
	timestampSourceInfo = "synthetic_timestamp_source_info"
	BuildInfo           = "synthetic_build_info"

	ConfigLastReloadSuccessful = "synthetic_config_last_reload_successful"
	ConfigLastReloadSuccess    = "synthetic_config_last_reload_success_timestamp_seconds"
	SchedulerHeartbeat         = "synthetic_scheduler_heartbeat_timestamp_seconds"

	turnLogDropped = "synthetic_turn_log_dropped_total"

	discoveredTargets  = "synthetic_discovered_targets"
	discoveryLeftOut   = "synthetic_discovery_left_out"
	discoverySucceeded = "synthetic_discovery_last_success_timestamp_seconds"
	DiscoveryFailing   = "synthetic_discovery_failing"
	Silence            = "synthetic_silence_seconds"
	OutageTurns        = "synthetic_outage_turns"

	boundLimit = "synthetic_bound_limit"
	boundUsed  = "synthetic_bound_used"
)

// Metric describes one family.
type Metric struct {
	Name string
	Kind Kind
	// Unit is the base unit: "seconds", "tokens", "turns", "ratio", "" ...
	Unit string
	// Help is the HELP line, with the unit and the counted population.
	Help string
	// Labels in the order of the exposition; target, workload, turn first.
	Labels []string
}

// Catalog lists every family that synthetic itself defines, in the order of
// the documentation. The Go and process collectors are not part of it.
func Catalog() []Metric {
	job := []string{LabelTarget, LabelWorkload}
	turn := []string{LabelTarget, LabelWorkload, LabelTurn}
	signal := []string{LabelTarget, LabelWorkload, LabelTurn, LabelSignal}
	compared := []string{LabelTarget, LabelWorkload, LabelSignal}
	with := func(base []string, more ...string) []string {
		return append(append([]string{}, base...), more...)
	}
	return []Metric{
		{ttftWindow, Summary, "seconds", "TTFT: the time from sending a turn to its first event with a token (content, reasoning or tool call), including DNS, connect and TLS. p50, p95 and p99 cover the last 60 seconds. _sum and _count cover all turns since the start.", turn},
		{tpotWindow, Summary, "seconds", "TPOT: (last token - first token) / (tokens made in between) of a turn. p50, p95 and p99 cover the last 60 seconds. _sum and _count cover all turns since the start.", turn},
		{turnDurationWindow, Summary, "seconds", "Time from sending a turn to the end of its stream, of successful turns. p50, p95 and p99 cover the last 60 seconds. _sum and _count cover all turns since the start.", turn},
		{Turns, Counter, "turns", "Turns ended, with any outcome, including turns that the prober ended.", turn},
		{TurnFailures, Counter, "turns", "Turns that failed, by reason.", with(turn, LabelReason)},

		{ttft, Histogram, "seconds", "TTFT of all turns. A turn without a first token has no sample here; it counts in the SLO counters.", turn},
		{tpot, Histogram, "seconds", "TPOT of all turns.", turn},
		{PhaseDuration, Summary, "seconds", "Parts of a turn: dns, connect and tls are the time of the step (new connections only); headers and first_event are measured from sending the turn.", with(job, labelPhase)},
		{ScheduleLag, Summary, "seconds", "Delay between the scheduled and the actual sending of a turn, caused by the prober.", job},
		{ProberLag, gauge, "seconds", "Lag of the prober: for more than 5 % of the last minute its goroutines ran at least this late; 0 below 10 ms.", nil},
		{ProberStarved, gauge, "", "1 if the prober is too late for latencies of a job, or cannot send, else 0. Either synthetic_prober_lag_seconds exceeds 1 s, or most turns of the last two minutes were faults of the prober. Without a turn in that time, the last one counts for ten minutes.", job},

		{turnsStarted, Counter, "turns", "Turns started. At every scrape it equals turns ended plus turns in flight.", turn},
		{turnsInFlight, gauge, "turns", "Turns sent and not yet ended.", turn},
		{TurnOwnFaults, Counter, "turns", "Turns lost to a fault of the prober, by reason: it could not send (not_sent), or it was late (prober_late). They are no failures of the deployment.", with(turn, LabelReason)},
		{TurnsCanceled, Counter, "turns", "Turns ended early by the prober's shutdown or reload, or closed by a simulated user. They are no failures.", turn},
		{turnsNotJudged, Counter, "turns", "Turns that an SLO skipped, because the prober was so late in them that a latency could be on either side of the threshold.", turn},
		{TurnsBuffered, Counter, "turns", "Turns in which at least 90 % of the token events arrived together although the prober read in time: something on the way buffers. They have no TPOT and no ITL.", turn},
		{otherRequests, Counter, "requests", "Requests to a target that are no turns, by purpose: a list of its models (models), its metrics (server_metrics), or a turn again without a field that the target refuses (refused_field).", []string{LabelTarget, labelPurpose}},

		{ConversationsStarted, Counter, "conversations", "Conversations started.", job},
		{conversations, Counter, "conversations", "Conversations ended, with any outcome, including conversations that the prober ended.", job},
		{conversationFailures, Counter, "conversations", "Conversations ended by a failed turn.", job},
		{conversationsCanceled, Counter, "conversations", "Conversations ended early by the prober: a shutdown, a reload or its own fault. They are no failures.", job},
		{ConversationsSkipped, Counter, "conversations", "Conversations that were due but not started, by reason.", with(job, LabelReason)},
		{conversationsInFlight, gauge, "conversations", "Conversations started and not yet ended.", job},
		{conversationsShort, Counter, "conversations", "Conversations with fewer turns than planned, because their history became too long or an answer had no content to keep in it. They are no failures.", job},

		{FinishReasons, Counter, "turns", "Turns whose answer ended with a finish reason, in the terms of chat completions: stop, length (cut by the token limit), tool_calls, content_filter and aborted; others by the server's name, or as others after 10 names of a job.", with(job, labelFinish)},

		{GatewayTurns, Counter, "turns", "Turns in whose answer a gateway reports what it did, by the server that answered: its host and port, the gateway's name of it, unknown, or other after 20 servers of a job. A server is absent before its first answer.", with(job, labelBackend)},
		{GatewayRetries, Counter, "requests", "Further requests for one model that a gateway sent before it answered.", job},
		{GatewayFallbacks, Counter, "turns", "Turns that a gateway answered with another model than the requested one.", job},
		{GatewayFallbackSince, gauge, "seconds", "Unix time at which the first turn of the latest series of turns that a gateway answered with another model than the requested one was sent; 0 for never.", job},
		{GatewayOverhead, Summary, "seconds", "Part of the time to a gateway's headers that the answering server did not use: its own work and its failed attempts. The TTFT includes it.", job},

		{sessionTurns, Counter, "turns", "Follow-up turns, by whether the worker of the previous turn answered (kept) or another one (lost).", with(job, labelSession)},
		{sessionPromptTokens, Counter, "tokens", "Prompt tokens of follow-up turns whose usage reported cached tokens, by whether the worker of the previous turn answered (kept) or another one (lost).", with(job, labelSession)},
		{sessionCachedTokens, Counter, "tokens", "Prompt tokens of follow-up turns that were served from the prefix cache, by whether the worker of the previous turn answered (kept) or another one (lost).", with(job, labelSession)},

		{PromptTokens, Counter, "tokens", "Prompt tokens, from the server's usage.", turn},
		{CachedPromptTokens, Counter, "tokens", "Prompt tokens served from the prefix cache, from the server's usage.", turn},
		{CacheKnownPrompt, Counter, "tokens", "Prompt tokens of turns whose usage reported cached tokens: the denominator of the cached ratio.", turn},
		{OutputTokens, Counter, "tokens", "Output tokens, from the server's usage; without usage, the number of token events.", turn},
		{reasoningTokens, Counter, "tokens", "Output tokens spent on reasoning, from the server's usage; 0 if it does not report them.", turn},
		{turnsWithoutAnswer, Counter, "turns", "Turns whose tokens contained no content: only reasoning, a refusal or tool calls.", turn},
		{UsageMissing, Counter, "turns", "Turns whose output tokens are an estimate, by reason: no usage came with the tokens (absent), or one with more tokens than the request and the answer allow, or with over 10 % fewer than the answer had events with tokens (impossible).", with(turn, LabelReason)},
		{otherModelTurns, Counter, "turns", "Successful turns that another model than the requested one answered. A fallback that a gateway reports does not count.", job},
		{tpotUnknown, Counter, "turns", "Turns without a TPOT because the number of tokens between their first and last event is not known to within 10 %, by reason.", with(turn, LabelReason)},
		{ContextCut, Counter, "turns", "Follow-up turns whose prompt has fewer tokens than that of the turn before: the server cut the history.", job},
		{contextCutPrompt, gauge, "tokens", "Prompt tokens of the last turn whose history the server cut; 0 before the first.", job},
		{contextCutPrevious, gauge, "tokens", "Prompt tokens of the turn before the last one whose history the server cut; 0 before the first.", job},
		{RecallTurns, Counter, "turns", "Turns judged by reference codes, by result: right, wrong (the code that the turn asked for is missing or altered) or foreign (the answer has a code of another conversation). cached says whether the prefix cache served the code (yes, no, unknown), depth how many prompt tokens stand before it; both are unknown for foreign, whose series is always present. Absent without recall.", with(job, LabelResult, labelCached, labelDepth)},
		{tokenEvents, Counter, "events", "Stream events that carried tokens.", turn},
		{coalescedEvents, Counter, "events", "Stream events that arrived in one read with an earlier event and share its timestamp.", turn},

		{LastTurn, gauge, "seconds", "Unix time of the end of the last turn with any outcome, except canceled turns.", job},

		{ConsecutiveFailed, gauge, "turns", "Number of consecutive failed turns. A refusal for load (http_429) does not change it; a wrong answer (content_mismatch, tool_call_invalid, schema_mismatch) resets it.", job},
		{Failing, gauge, "seconds", "Time since the second of the consecutive failed turns; 0 with fewer. A turn without a first token counts from its start. While turns are refused for load (http_429), it stands still.", job},

		{SignalTurns, Counter, "turns", "Turns with a value of the signal. A turn without one counts with its deadline, or with its waiting time if that is longer.", signal},
		{SignalLog2, Counter, "", "Sum of log2(value / 1 us) over the turns with a value of the signal. Its rate divided by the rate of synthetic_signal_turns_total is the log2 of the geometric mean in microseconds.", signal},
		{Baseline, gauge, "seconds", "Usual value at this time of day and week; NaN in the first three hours.", signal},
		{Excess, gauge, "seconds", "Seconds by which a part of recent turns exceeds its usual time: connect, queue_prefill (the rest of the TTFT), proxy_buffering (the part of the TTFT in which tokens were held back) or decode; NaN with too few turns.", with(turn, LabelPart)},
		{PageScore, gauge, "", "How near the rise of the signal is to a page; from 1 on it pages. 0 if unknown.", compared},
		{TicketScore, gauge, "", "How near the rise of the signal is to a ticket; from 1 on it opens one. 0 if unknown.", compared},
		{RegressionRatio, gauge, "ratio", "Mean over the last five minutes of value / usual value, of turns of all kinds; NaN if unknown.", compared},
		{RegressionLimit, gauge, "ratio", "The ratio from which the signal pages: in the window that is nearest to its limit, or while it pages, the one that was crossed; NaN if unknown.", compared},
		{RegressionSince, gauge, "seconds", "Unix time at which the rise that pages or has a ticket began; 0 without one.", compared},
		{Detectable, gauge, "ratio", "Smallest ratio that pages within an hour; NaN without a usual level of a day.", compared},
		{BaselineMoved, gauge, "seconds", "Unix time at which a lasting level that missed no objective last became the usual one; 0 for never.", job},
		{CachedBaseline, gauge, "ratio", "Usual share of prompt tokens served from the prefix cache; NaN if unknown.", turn},

		{SLOTurns, Counter, "turns", "Turns judged by an SLO.", with(turn, LabelSLO)},
		{SLOViolations, Counter, "turns", "Turns that violated an SLO, failed turns included.", with(turn, LabelSLO)},
		{SLOMissing, gauge, "", "1 while turns keep violating an SLO: at least 3 within 40 s or more, until 7 good turns and 40 s later. 0.5 if for less than 40 s, or while consecutive turns fail, which has an alert of its own. Otherwise 0.", with(job, LabelSLO)},
		{SLOObjective, gauge, "ratio", "Objective of an SLO: the wanted share of good turns.", []string{LabelSLO}},
		{SLOThreshold, gauge, "seconds", "Largest good value of an SLO, for a turn without uncached prompt tokens; absent for availability.", []string{LabelSLO}},
		{SLOSlope, gauge, "seconds", "What an SLO adds to its threshold for every 1,000 uncached prompt tokens of a turn; absent for an SLO with a plain threshold.", []string{LabelSLO}},
		{SLOWindow, gauge, "seconds", "Window of an SLO's error budget.", []string{LabelSLO}},

		{ServerMetricsUp, gauge, "", "1 if the last read of all pages of a target's own metrics succeeded, else 0; absent if none are configured.", []string{LabelTarget}},
		{ServerRunning, gauge, "requests", "Requests of all clients that a target processes, by its own metrics; absent for a target that does not export it.", []string{LabelTarget}},
		{ServerWaiting, gauge, "requests", "Requests of all clients that wait in the queues of a target, by its own metrics; absent for a target that does not export it.", []string{LabelTarget}},
		{ServerKVUse, gauge, "ratio", "Share of the KV cache in use by running requests, for the engine of a target that uses most of it; absent for a target that does not export it.", []string{LabelTarget}},
		{ServerPreemptions, Counter, "requests", "Requests that a target preempted to make room in its KV cache, since the prober started; absent for a target that does not export it.", []string{LabelTarget}},
		{ServerTokenAge, gauge, "seconds", "Time for which an engine of a target has processed requests and made no token, as of the last reading; the longest of its engines, from the first reading on. Without running requests, the time since any engine made a token. Absent for engines that count tokens only when a request ends.", []string{LabelTarget}},

		{targetInfo, gauge, "", "A target's model, connection mode and address, without user information and query; always 1.", []string{LabelTarget, "model", "connection", LabelURL}},
		{TrafficRate, gauge, "conversations per second", "Configured rate of conversation starts without bursts; absent for closed-loop traffic.", job},
		{probeRate, gauge, "conversations per second", "Current rate of conversation starts, including a burst; absent for closed-loop traffic.", job},
		{bursts, Counter, "", "Bursts started at the first sign of a fault, by reason: a turn failed (failed), a turn in flight takes much longer than others did (overdue), or a signal approached a page (slower).", with(job, LabelReason)},
		{timestampSourceInfo, gauge, "", "Source of event timestamps: kernel or read; always 1.", []string{"source"}},
		{BuildInfo, gauge, "", "Version of this binary; always 1.", []string{"version", "revision", "branch", "goversion", "goos", "goarch", "tags"}},

		{ConfigLastReloadSuccessful, gauge, "", "Whether the last load of the configuration succeeded (1) or failed (0).", nil},
		{ConfigLastReloadSuccess, gauge, "seconds", "Unix time of the last successful load of the configuration.", nil},
		{SchedulerHeartbeat, gauge, "seconds", "Unix time of the last sign of life of a traffic loop.", job},

		{Silence, gauge, "seconds", "Age of the last turn at which the job counts as silent: 12 mean intervals between conversations plus the longest turn, at least 5 minutes; +Inf in planned downtime. It exists for each configured job; rules judge the jobs that have it.", job},
		{OutageTurns, gauge, "turns", "Number of consecutive failures at which the target counts as down. The label url is the probed URL, with the host's name instead of a loopback address, so that probers with the same url test one deployment.", with(job, LabelURL)},

		{turnLogDropped, Counter, "turns", "Turns missing from the turn log, because it could not be written or was too slow; absent without a turn log.", nil},
		{discoveredTargets, gauge, "", "Targets of a group that were discovered or leased and are probed; absent without discovery.", []string{labelGroup}},
		{discoveryLeftOut, gauge, "", "Discovered objects of a group that are not probed, by reason: an invalid address (address), a host outside allowed_hosts (host), invalid labels (labels), more than max_targets (max_targets), or a name already in use (name).", []string{labelGroup, LabelReason}},
		{discoverySucceeded, gauge, "seconds", "Unix time at which the discovery of a group last worked without a failure; 0 for never.", []string{labelGroup}},
		{DiscoveryFailing, gauge, "", "1 if the discovery of a group fails or finds fewer targets than min_targets, else 0. Targets found before are still probed.", []string{labelGroup}},
		{boundLimit, gauge, "", "A limit of this process, in the unit at the end of the label bound (see docs/reference/limits.md); absent without a limit, and for limits of single turns before the first turn.", []string{labelBound}},
		{boundUsed, gauge, "", "Current use of a limit; for limits of single turns, the largest use so far.", []string{labelBound}},
	}
}

// Phases are the values of the phase label.
func phaseNames() []string { return []string{"dns", "connect", "tls", "headers", "first_event"} }

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
