// Package metrics owns every metric that synthetic exports: the catalog of
// names, and the Recorder that turns probe results into series. Rules,
// dashboards and docs/reference/metrics.md derive from the catalog, so a name exists in
// one place.
package metrics

import (
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/watch"
)

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

	Turns         = "synthetic_turns_total"
	TurnFailures  = "synthetic_turn_failures_total"
	TurnOwnFaults = "synthetic_turn_own_faults_total"
	TurnsCanceled = "synthetic_turns_canceled_total"
	TurnsBuffered = "synthetic_turns_buffered_total"
	otherRequests = "synthetic_other_requests_total"

	ConversationsStarted = "synthetic_conversations_started_total"
	ConversationsSkipped = "synthetic_conversations_skipped_total"

	FinishReasons = "synthetic_finish_reasons_total"

	GatewayTurns         = "synthetic_gateway_turns_total"
	GatewayRetries       = "synthetic_gateway_retries_total"
	GatewayFallbacks     = "synthetic_gateway_fallbacks_total"
	GatewayFallbackSince = "synthetic_gateway_fallback_since_timestamp_seconds"
	GatewayOverhead      = "synthetic_gateway_overhead_seconds"

	PromptTokens       = "synthetic_prompt_tokens_total"
	CachedPromptTokens = "synthetic_cached_prompt_tokens_total"
	CacheKnownPrompt   = "synthetic_cache_reported_prompt_tokens_total"
	OutputTokens       = "synthetic_output_tokens_total"
	UsageMissing       = "synthetic_usage_missing_total"
	tpotUnknown        = "synthetic_tpot_unknown_total"
	ContextCut         = "synthetic_context_cut_total"
	RecallTurns        = "synthetic_recall_turns_total"

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

	SLOTurns        = "synthetic_slo_turns_total"
	SLOViolations   = "synthetic_slo_violations_total"
	SLOMissing      = "synthetic_slo_missing"
	SLOMissingSince = "synthetic_slo_missing_since_timestamp_seconds"
	SLOObjective    = "synthetic_slo_objective_ratio"
	SLOThreshold    = "synthetic_slo_threshold_seconds"
	SLOSlope        = "synthetic_slo_threshold_seconds_per_1k_uncached_tokens"
	SLOWindow       = "synthetic_slo_window_seconds"

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

	discoveryLeftOut = "synthetic_discovery_left_out"
	DiscoveryFailing = "synthetic_discovery_failing"
	Silence          = "synthetic_silence_seconds"
	OutageTurns      = "synthetic_outage_turns"

	boundLimit = "synthetic_bound_limit"
	boundUsed  = "synthetic_bound_used"
)

// Metric describes one family.
type Metric struct {
	Name string
	Kind Kind
	// Unit is the base unit: "seconds", "tokens", "turns", "ratio", "" ...
	Unit string
	// Labels in the order of the exposition; target, workload, turn first.
	Labels []string
	// read is a function that returns the value of a series from what it counts; nil if more than one value is read.
	read any
	// Help is the HELP line, with the unit and the counted population.
	Help string
}

// Catalog lists every family that synthetic itself defines, in the order of
// the documentation. The Go and process collectors are not part of it.
func Catalog() []Metric {
	ofJob := []string{LabelTarget, LabelWorkload}
	turn := []string{LabelTarget, LabelWorkload, LabelTurn}
	signal := []string{LabelTarget, LabelWorkload, LabelTurn, LabelSignal}
	compared := []string{LabelTarget, LabelWorkload, LabelSignal}
	with := func(base []string, more ...string) []string {
		return append(append([]string{}, base...), more...)
	}
	return []Metric{
		{ttftWindow, Summary, "seconds", turn, nil, "TTFT: the time from sending a turn to its first event with a token (content, reasoning or tool call), including DNS, connect and TLS. p50, p95 and p99 cover the last 60 seconds. _sum and _count cover all turns since the start."},
		{tpotWindow, Summary, "seconds", turn, nil, "TPOT: (last token - first token) / (tokens made in between) of a turn. p50, p95 and p99 cover the last 60 seconds. _sum and _count cover all turns since the start."},
		{turnDurationWindow, Summary, "seconds", turn, nil, "Time from sending a turn to the end of its stream, of successful turns. p50, p95 and p99 cover the last 60 seconds. _sum and _count cover all turns since the start."},
		{Turns, Counter, "turns", turn, func(t turnsOf) float64 { return float64(t.tally.Ended) }, "Turns ended, with any outcome, including turns that the prober ended."},
		{TurnFailures, Counter, "turns", with(turn, LabelReason), nil, "Turns that failed, by reason."},

		{ttft, Histogram, "seconds", turn, nil, "TTFT of all turns. A turn without a first token has no sample here; it counts in the SLO counters."},
		{tpot, Histogram, "seconds", turn, nil, "TPOT of all turns."},
		{PhaseDuration, Summary, "seconds", with(ofJob, labelPhase), nil, "Parts of a turn: dns, connect and tls are the time of the step (new connections only); headers and first_event are measured from sending the turn."},
		{ScheduleLag, Summary, "seconds", ofJob, nil, "Delay between the scheduled and the actual sending of a turn, caused by the prober."},
		{ProberLag, gauge, "seconds", nil, nil, "Lag of the prober: for more than 5 % of the last minute its goroutines ran at least this late; 0 below 10 ms."},
		{ProberStarved, gauge, "", ofJob, nil, "1 if the prober is too late for latencies of a job, or cannot send, else 0. Either synthetic_prober_lag_seconds exceeds 1 s, or most turns of the last two minutes were faults of the prober. Without a turn in that time, the last one counts for ten minutes."},

		{"synthetic_turns_started_total", Counter, "turns", turn, func(t turnsOf) float64 { return float64(t.tally.Ended + t.tally.InFlight) }, "Turns started. At every scrape it equals turns ended plus turns in flight."},
		{"synthetic_turns_in_flight", gauge, "turns", turn, func(t turnsOf) float64 { return float64(t.tally.InFlight) }, "Turns sent and not yet ended."},
		{TurnOwnFaults, Counter, "turns", with(turn, LabelReason), nil, "Turns lost to a fault of the prober, by reason: it could not send (not_sent), or it was late (prober_late). They are no failures of the deployment."},
		{TurnsCanceled, Counter, "turns", turn, func(t turnsOf) float64 { return float64(t.tally.Count(probe.Outcome.Canceled)) }, "Turns ended early by the prober's shutdown or reload, or closed by a simulated user. They are no failures."},
		{"synthetic_turns_not_judged_total", Counter, "turns", turn, func(t turnsOf) float64 { return t.notJudged }, "Turns that an SLO skipped, because the prober was so late in them that a latency could be on either side of the threshold."},
		{TurnsBuffered, Counter, "turns", turn, func(t turnsOf) float64 { return t.buffered }, "Turns in which at least 90 % of the token events arrived together although the prober read in time: something on the way buffers. They have no TPOT and no ITL."},
		{otherRequests, Counter, "requests", []string{LabelTarget, labelPurpose}, nil, "Requests to a target that are no turns, by purpose: a list of its models (models), its metrics (server_metrics), or a turn again without a field that the target refuses (refused_field)."},

		{ConversationsStarted, Counter, "conversations", ofJob, func(j *job) float64 { return float64(j.tally.Conversations.Ended + j.tally.Conversations.InFlight) }, "Conversations started."},
		{"synthetic_conversations_total", Counter, "conversations", ofJob, func(j *job) float64 { return float64(j.tally.Conversations.Ended) }, "Conversations ended, with any outcome, including conversations that the prober ended."},
		{"synthetic_conversation_failures_total", Counter, "conversations", ofJob, func(j *job) float64 { return float64(j.tally.Conversations.Failed) }, "Conversations ended by a failed turn."},
		{"synthetic_conversations_canceled_total", Counter, "conversations", ofJob, func(j *job) float64 { return float64(j.tally.Conversations.Canceled) }, "Conversations ended early by the prober: a shutdown, a reload or its own fault. They are no failures."},
		{ConversationsSkipped, Counter, "conversations", with(ofJob, LabelReason), nil, "Conversations that were due but not started, by reason."},
		{"synthetic_conversations_in_flight", gauge, "conversations", ofJob, func(j *job) float64 { return float64(j.tally.Conversations.InFlight) }, "Conversations started and not yet ended."},
		{"synthetic_conversations_shortened_total", Counter, "conversations", ofJob, func(j *job) float64 { return float64(j.tally.Conversations.Shortened) }, "Conversations with fewer turns than planned, because their history became too long or an answer had no content to keep in it. They are no failures."},

		{FinishReasons, Counter, "turns", with(ofJob, labelFinish), nil, "Turns whose answer ended with a finish reason, in the terms of chat completions: stop, length (cut by the token limit), tool_calls, content_filter and aborted; others by the server's name, or as others after 10 names of a job."},

		{GatewayTurns, Counter, "turns", with(ofJob, labelBackend), nil, "Turns in whose answer a gateway reports what it did, by the server that answered: its host and port, the gateway's name of it, unknown, or other after 20 servers of a job. A server is absent before its first answer."},
		{GatewayRetries, Counter, "requests", ofJob, func(j *job) float64 { return j.gateway.retries }, "Further requests for one model that a gateway sent before it answered."},
		{GatewayFallbacks, Counter, "turns", ofJob, func(j *job) float64 { return j.gateway.fallbacks }, "Turns that a gateway answered with another model than the requested one."},
		{GatewayFallbackSince, gauge, "seconds", ofJob, func(j *job) float64 { return unixSeconds(j.gateway.since) }, "Unix time at which the first turn of the latest series of turns that a gateway answered with another model than the requested one was sent; 0 for never."},
		{GatewayOverhead, Summary, "seconds", ofJob, nil, "Part of the time to a gateway's headers that the answering server did not use: its own work and its failed attempts. The TTFT includes it."},

		{"synthetic_session_turns_total", Counter, "turns", with(ofJob, labelSession), func(c probe.SessionCount) float64 { return float64(c.Turns) }, "Follow-up turns, by whether the worker of the previous turn answered (kept) or another one (lost)."},
		{"synthetic_session_prompt_tokens_total", Counter, "tokens", with(ofJob, labelSession), func(c probe.SessionCount) float64 { return float64(c.Prompt) }, "Prompt tokens of follow-up turns whose usage reported cached tokens, by whether the worker of the previous turn answered (kept) or another one (lost)."},
		{"synthetic_session_cached_prompt_tokens_total", Counter, "tokens", with(ofJob, labelSession), func(c probe.SessionCount) float64 { return float64(c.Cached) }, "Prompt tokens of follow-up turns that were served from the prefix cache, by whether the worker of the previous turn answered (kept) or another one (lost)."},

		{PromptTokens, Counter, "tokens", turn, func(t turnsOf) float64 { return t.promptTokens }, "Prompt tokens, from the server's usage."},
		{CachedPromptTokens, Counter, "tokens", turn, func(t turnsOf) float64 { return t.cachedTokens }, "Prompt tokens served from the prefix cache, from the server's usage."},
		{CacheKnownPrompt, Counter, "tokens", turn, func(t turnsOf) float64 { return t.cacheKnown }, "Prompt tokens of turns whose usage reported cached tokens: the denominator of the cached ratio."},
		{OutputTokens, Counter, "tokens", turn, func(t turnsOf) float64 { return t.outputTokens }, "Output tokens, from the server's usage; without usage, the number of token events."},
		{"synthetic_reasoning_tokens_total", Counter, "tokens", turn, func(t turnsOf) float64 { return t.reasoningTokens }, "Output tokens spent on reasoning, from the server's usage; 0 if it does not report them."},
		{"synthetic_turns_without_answer_total", Counter, "turns", turn, func(t turnsOf) float64 { return t.withoutAnswer }, "Turns whose tokens contained no content: only reasoning, a refusal or tool calls."},
		{UsageMissing, Counter, "turns", with(turn, LabelReason), nil, "Turns whose output tokens are an estimate, by reason: no usage came with the tokens (absent), or one with more tokens than the request and the answer allow, or with over 10 % fewer than the answer had events with tokens (impossible)."},
		{"synthetic_other_model_turns_total", Counter, "turns", ofJob, func(j *job) float64 { return j.otherModel }, "Successful turns that another model than the requested one answered. A fallback that a gateway reports does not count."},
		{tpotUnknown, Counter, "turns", with(turn, LabelReason), nil, "Turns without a TPOT because the number of tokens between their first and last event is not known to within 10 %, by reason."},
		{ContextCut, Counter, "turns", ofJob, func(j *job) float64 { return j.contextCut }, "Follow-up turns whose prompt has fewer tokens than that of the turn before: the server cut the history."},
		{"synthetic_context_cut_prompt_tokens", gauge, "tokens", ofJob, func(j *job) float64 { return j.cutPrompt }, "Prompt tokens of the last turn whose history the server cut; 0 before the first."},
		{"synthetic_context_cut_previous_prompt_tokens", gauge, "tokens", ofJob, func(j *job) float64 { return j.cutPrevious }, "Prompt tokens of the turn before the last one whose history the server cut; 0 before the first."},
		{RecallTurns, Counter, "turns", with(ofJob, LabelResult, labelCached, labelDepth), nil, "Turns judged by reference codes, by result: right, wrong (the code that the turn asked for is missing or altered) or foreign (the answer has a code of another conversation). cached says whether the prefix cache served the code (yes, no, unknown), depth how many prompt tokens stand before it; both are unknown for foreign, whose series is always present. Absent without recall."},
		{"synthetic_token_events_total", Counter, "events", turn, func(t turnsOf) float64 { return t.tokenEvents }, "Stream events that carried tokens."},
		{"synthetic_coalesced_events_total", Counter, "events", turn, func(t turnsOf) float64 { return t.coalesced }, "Stream events that arrived in one read with an earlier event and share its timestamp."},

		{LastTurn, gauge, "seconds", ofJob, func(j *job) float64 { return j.lastTurn }, "Unix time of the end of the last turn with any outcome, except canceled turns."},

		{ConsecutiveFailed, gauge, "turns", ofJob, nil, "Number of consecutive failed turns. A refusal for load (http_429) does not change it; a wrong answer (content_mismatch, tool_call_invalid, schema_mismatch) resets it."},
		{Failing, gauge, "seconds", ofJob, nil, "Time since the second of the consecutive failed turns; 0 with fewer. A turn without a first token counts from its start. While turns are refused for load (http_429), it stands still."},

		{SignalTurns, Counter, "turns", signal, nil, "Turns with a value of the signal. A turn without one counts with its deadline, or with its waiting time if that is longer."},
		{SignalLog2, Counter, "", signal, nil, "Sum of log2(value / 1 us) over the turns with a value of the signal. Its rate divided by the rate of synthetic_signal_turns_total is the log2 of the geometric mean in microseconds."},
		{Baseline, gauge, "seconds", signal, nil, "Usual value at this time of day and week; NaN in the first three hours."},
		{Excess, gauge, "seconds", with(turn, LabelPart), nil, "Seconds by which a part of recent turns exceeds its usual time: connect, queue_prefill (the rest of the TTFT), proxy_buffering (the part of the TTFT in which tokens were held back) or decode; NaN with too few turns."},
		{PageScore, gauge, "", compared, func(v *watch.View) float64 { return v.Page }, "How near the rise of the signal is to a page; from 1 on it pages. 0 if unknown."},
		{TicketScore, gauge, "", compared, func(v *watch.View) float64 { return v.Ticket }, "How near the rise of the signal is to a ticket; from 1 on it opens one. 0 if unknown."},
		{RegressionRatio, gauge, "ratio", compared, func(v *watch.View) float64 { return orNaN(v.Ratio) }, "Mean over the last five minutes of value / usual value, of turns of all kinds; NaN if unknown."},
		{RegressionLimit, gauge, "ratio", compared, func(v *watch.View) float64 { return orNaN(v.Limit) }, "The signal pages from this ratio on. It is the limit of the window that is nearest to its own; while the signal pages, it is the limit that was crossed. NaN if unknown."},
		{RegressionSince, gauge, "seconds", compared, func(v *watch.View) float64 { return unixSeconds(v.Since) }, "Unix time at which the rise that pages or has a ticket began; 0 without one."},
		{Detectable, gauge, "ratio", compared, func(v *watch.View) float64 { return orNaN(v.Detectable) }, "Smallest ratio that pages within an hour; NaN without a usual level of a day."},
		{BaselineMoved, gauge, "seconds", ofJob, nil, "Unix time at which a lasting level that missed no objective last became the usual one; 0 for never."},
		{CachedBaseline, gauge, "ratio", turn, nil, "Usual share of prompt tokens served from the prefix cache; NaN if unknown."},

		{SLOTurns, Counter, "turns", with(turn, LabelSLO), nil, "Turns judged by an SLO."},
		{SLOViolations, Counter, "turns", with(turn, LabelSLO), nil, "Turns that violated an SLO, failed turns included."},
		{SLOMissing, gauge, "", with(ofJob, LabelSLO), nil, "1 while turns keep violating an SLO: at least 3 within 40 s or more, until 7 good turns and 40 s later. 0.5 if for less than 40 s, or while consecutive turns fail, which has an alert of its own. Otherwise 0."},
		{SLOMissingSince, gauge, "seconds", with(ofJob, LabelSLO), nil, "Unix time of the first turn of those that violated an SLO while synthetic_slo_missing was 1, until 30 good turns in 90 s or more have followed; otherwise 0."},
		{SLOObjective, gauge, "ratio", []string{LabelSLO}, nil, "Objective of an SLO: the wanted share of good turns."},
		{SLOThreshold, gauge, "seconds", []string{LabelSLO}, nil, "Largest good value of an SLO, for a turn without uncached prompt tokens; absent for availability."},
		{SLOSlope, gauge, "seconds", []string{LabelSLO}, nil, "What an SLO adds to its threshold for every 1,000 uncached prompt tokens of a turn; absent for an SLO with a plain threshold."},
		{SLOWindow, gauge, "seconds", []string{LabelSLO}, nil, "Window of an SLO's error budget."},

		{ServerMetricsUp, gauge, "", []string{LabelTarget}, nil, "1 if the last read of all pages of a target's own metrics succeeded, else 0; absent if none are configured."},
		{ServerRunning, gauge, "requests", []string{LabelTarget}, nil, "Requests of all clients that a target processes, by its own metrics; absent for a target that does not export it."},
		{ServerWaiting, gauge, "requests", []string{LabelTarget}, nil, "Requests of all clients that wait in the queues of a target, by its own metrics; absent for a target that does not export it."},
		{ServerKVUse, gauge, "ratio", []string{LabelTarget}, nil, "Share of the KV cache in use by running requests, for the engine of a target that uses most of it; absent for a target that does not export it."},
		{ServerPreemptions, Counter, "requests", []string{LabelTarget}, nil, "Requests that a target preempted to make room in its KV cache, since the prober started; absent for a target that does not export it."},
		{ServerTokenAge, gauge, "seconds", []string{LabelTarget}, nil, "Time for which an engine of a target has processed requests and made no token, as of the last reading; the longest of its engines, from the first reading on. Without running requests, the time since any engine made a token. Absent for engines that count tokens only when a request ends."},

		{targetInfo, gauge, "", []string{LabelTarget, "model", "connection", LabelURL}, nil, "A target's model, connection mode and address, without user information and query; always 1."},
		{TrafficRate, gauge, "conversations per second", ofJob, nil, "Configured rate of conversation starts without bursts; absent for closed-loop traffic."},
		{probeRate, gauge, "conversations per second", ofJob, nil, "Current rate of conversation starts, including a burst; absent for closed-loop traffic."},
		{bursts, Counter, "", with(ofJob, LabelReason), nil, "Bursts started at the first sign of a fault, by reason: a turn failed (failed), a turn in flight takes much longer than others did (overdue), or a signal approached a page (slower)."},
		{timestampSourceInfo, gauge, "", []string{"source"}, nil, "Source of event timestamps: kernel or read; always 1."},
		{BuildInfo, gauge, "", []string{"version", "revision", "branch", "goversion", "goos", "goarch", "tags"}, nil, "Version of this binary; always 1."},

		{ConfigLastReloadSuccessful, gauge, "", nil, nil, "Whether the last load of the configuration succeeded (1) or failed (0)."},
		{ConfigLastReloadSuccess, gauge, "seconds", nil, nil, "Unix time of the last successful load of the configuration."},
		{SchedulerHeartbeat, gauge, "seconds", ofJob, nil, "Unix time of the last sign of life of a traffic loop."},

		{Silence, gauge, "seconds", ofJob, nil, "Age of the last turn at which the job counts as silent: 12 mean intervals between conversations plus the longest turn, at least 5 minutes; +Inf in planned downtime. It exists for each configured job; rules judge the jobs that have it."},
		{OutageTurns, gauge, "turns", with(ofJob, LabelURL), nil, "Number of consecutive failures at which the target counts as down. The label url is the probed URL, with the host's name instead of a loopback address, so that probers with the same url test one deployment."},

		{turnLogDropped, Counter, "turns", nil, nil, "Turns missing from the turn log, because it could not be written or was too slow; absent without a turn log."},
		{"synthetic_discovered_targets", gauge, "", []string{labelGroup}, func(s discovery.Standing) float64 { return float64(s.Found) }, "Targets of a group that were discovered or leased and are probed; absent without discovery."},
		{discoveryLeftOut, gauge, "", []string{labelGroup, LabelReason}, nil, "Discovered objects of a group that are not probed, by reason: an invalid address (address), a host outside allowed_hosts (host), invalid labels (labels), more than max_targets (max_targets), or a name already in use (name)."},
		{"synthetic_discovery_last_success_timestamp_seconds", gauge, "seconds", []string{labelGroup}, func(s discovery.Standing) float64 { return unixSeconds(s.At) }, "Unix time at which the discovery of a group last worked without a failure; 0 for never."},
		{DiscoveryFailing, gauge, "", []string{labelGroup}, func(s discovery.Standing) float64 { return boolValue(s.Failing != "") }, "1 if the discovery of a group fails or finds fewer targets than min_targets, else 0. Targets found before are still probed."},
		{boundLimit, gauge, "", []string{labelBound}, nil, "A limit of this process, in the unit at the end of the label bound (see docs/reference/limits.md); absent without a limit, and for limits of single turns before the first turn."},
		{boundUsed, gauge, "", []string{labelBound}, nil, "Current use of a limit; for limits of single turns, the largest use so far."},
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
		{PagerEvaluations, Counter, "rules", nil, nil, "Rules that the pager evaluated."},
		{PagerFailures, Counter, "rules", nil, nil, "Rules that the pager could not evaluate."},
		{PagerLastEvaluation, gauge, "seconds", nil, nil, "Unix time at which the pager last evaluated its rules; absent before the first evaluation."},
		{PagerStalled, gauge, "boolean", nil, nil, "1 while the pager has evaluated no rule for five minutes; else 0."},
		{PagerUndelivered, gauge, "alerts", each, nil, "Alerts in the last failed request to an Alertmanager; 0 once it accepts all again."},
	}
}
