// Package metrics owns every metric that synthetic exports: the catalog of
// names, and the Recorder that turns probe results into series. Rules,
// dashboards and docs/reference/metrics.md derive from the catalog, so a name exists in
// one place.
package metrics

import (
	"slices"

	"synthetic/internal/probe"
)

// Kind is a metric's type.
type Kind string

const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
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
	LabelPhase    = "phase"
	LabelSLO      = "slo"
	LabelSignal   = "signal"
	LabelWithin   = "within"
	LabelRatio    = "ratio"
	LabelPart     = "part"
	// LabelStatistic says which figure of a benchmark it is.
	LabelStatistic = "statistic"
	LabelTraceID   = "trace_id"
	LabelBound     = "bound"
	LabelGroup     = "group"
	// LabelVerdict says how a streamed answer compares with a whole one.
	LabelVerdict = "verdict"
	LabelURL     = "url"
	// LabelWorker is of replicas behind a front door.
	LabelWorker = "worker"
)

// Names of metrics.
const (
	TTFT                 = "synthetic_ttft_seconds"
	AnswerTTFT           = "synthetic_answer_ttft_seconds"
	TPOT                 = "synthetic_tpot_seconds"
	ITL                  = "synthetic_itl_seconds"
	TurnDuration         = "synthetic_turn_duration_seconds"
	ConversationDuration = "synthetic_conversation_duration_seconds"
	PhaseDuration        = "synthetic_phase_duration_seconds"
	ScheduleLag          = "synthetic_schedule_lag_seconds"
	ReadLag              = "synthetic_read_lag_seconds"
	ProberLag            = "synthetic_prober_lag_seconds"
	ProberStarved        = "synthetic_prober_starved"

	TTFTWindow         = "synthetic_ttft_window_seconds"
	TPOTWindow         = "synthetic_tpot_window_seconds"
	TurnDurationWindow = "synthetic_turn_duration_window_seconds"

	TurnsStarted   = "synthetic_turns_started_total"
	Turns          = "synthetic_turns_total"
	TurnsInFlight  = "synthetic_turns_in_flight"
	TurnFailures   = "synthetic_turn_failures_total"
	TurnOwnFaults  = "synthetic_turn_own_faults_total"
	TurnsCanceled  = "synthetic_turns_canceled_total"
	TurnsNotJudged = "synthetic_turns_not_judged_total"
	TurnsBuffered  = "synthetic_turns_buffered_total"

	ConversationsStarted  = "synthetic_conversations_started_total"
	Conversations         = "synthetic_conversations_total"
	ConversationFailures  = "synthetic_conversation_failures_total"
	ConversationsCanceled = "synthetic_conversations_canceled_total"
	ConversationsSkipped  = "synthetic_conversations_skipped_total"
	ConversationsInFlight = "synthetic_conversations_in_flight"
	ConversationsShort    = "synthetic_conversations_shortened_total"
	UserEndpointErrors    = "synthetic_user_endpoint_errors_total"
	StreamComparisons     = "synthetic_stream_comparisons_total"

	PromptTokens       = "synthetic_prompt_tokens_total"
	CachedPromptTokens = "synthetic_cached_prompt_tokens_total"
	CacheKnownPrompt   = "synthetic_cache_reported_prompt_tokens_total"
	OutputTokens       = "synthetic_output_tokens_total"
	ReasoningTokens    = "synthetic_reasoning_tokens_total"
	TurnsWithoutAnswer = "synthetic_turns_without_answer_total"
	UsageMissing       = "synthetic_usage_missing_total"
	CoalescedEvents    = "synthetic_coalesced_events_total"
	OddAnswers         = "synthetic_odd_answers_total"
	CanaryScore        = "synthetic_canary_score"
	CanaryDistance     = "synthetic_canary_distance"
	CanaryRounds       = "synthetic_canary_rounds_total"
	CanaryFailures     = "synthetic_canary_failures_total"
	CanaryTokens       = "synthetic_canary_tokens_total"
	TokenEvents        = "synthetic_token_events_total"

	LastTurn          = "synthetic_last_turn_timestamp_seconds"
	ConsecutiveFailed = "synthetic_consecutive_failed_turns"
	BadTurn           = "synthetic_bad_turn_timestamp_seconds"

	SignalTurns        = "synthetic_signal_turns_total"
	SignalLog2         = "synthetic_signal_log2_total"
	SignalLog2Squared  = "synthetic_signal_log2_squared_total"
	SignalBaselineLog2 = "synthetic_signal_baseline_log2_total"
	SignalTail         = "synthetic_signal_tail_turns_total"
	TailLimit          = "synthetic_signal_tail_limit_seconds"
	Baseline           = "synthetic_baseline_seconds"
	BaselineYoung      = "synthetic_baseline_young"
	BaselineTurns      = "synthetic_baseline_turns"
	BaselineNoise      = "synthetic_baseline_level_noise"
	PageScore          = "synthetic_regression_page_score"
	TicketScore        = "synthetic_regression_ticket_score"
	RegressionRatio    = "synthetic_regression_ratio"
	RegressionSince    = "synthetic_regression_since_timestamp_seconds"
	RegressionDelay    = "synthetic_regression_delay_seconds"
	Detectable         = "synthetic_regression_detectable_ratio"
	ExpectedFalsePages = "synthetic_regression_expected_false_pages"
	RegressionHistory  = "synthetic_regression_history_seconds"
	BaselineMoved      = "synthetic_baseline_moved_timestamp_seconds"
	Excess             = "synthetic_excess_seconds"
	CachedBaseline     = "synthetic_cached_baseline_ratio"

	SiblingPageScore = "synthetic_sibling_page_score"
	SiblingRatio     = "synthetic_sibling_ratio"
	SiblingFailed    = "synthetic_sibling_failed_ratio"

	Expected      = "synthetic_expected_seconds"
	ExpectedTurns = "synthetic_expected_turns"
	ExpectedInfo  = "synthetic_expected_info"

	SLOTurns      = "synthetic_slo_turns_total"
	SLOViolations = "synthetic_slo_violations_total"
	SLOObjective  = "synthetic_slo_objective_ratio"
	SLOThreshold  = "synthetic_slo_threshold_seconds"
	SLOWindow     = "synthetic_slo_window_seconds"

	ServerMetricsUp  = "synthetic_server_metrics_up"
	ServerDrafted    = "synthetic_server_spec_draft_tokens_total"
	ServerAccepted   = "synthetic_server_spec_accepted_tokens_total"
	ServerAcceptance = "synthetic_server_spec_acceptance_ratio"

	TargetInfo          = "synthetic_target_info"
	TrafficRate         = "synthetic_traffic_conversations_per_second"
	ProbeRate           = "synthetic_probe_rate_conversations_per_second"
	Bursts              = "synthetic_bursts_total"
	TimestampSourceInfo = "synthetic_timestamp_source_info"
	BuildInfo           = "synthetic_build_info"

	ConfigLastReloadSuccessful = "synthetic_config_last_reload_successful"
	ConfigLastReloadSuccess    = "synthetic_config_last_reload_success_timestamp_seconds"
	SchedulerHeartbeat         = "synthetic_scheduler_heartbeat_timestamp_seconds"

	Throttled      = "synthetic_target_throttled_seconds_total"
	TurnLogDropped = "synthetic_turn_log_dropped_total"

	DiscoveredTargets  = "synthetic_discovered_targets"
	DiscoveryLeftOut   = "synthetic_discovery_left_out"
	DiscoverySucceeded = "synthetic_discovery_last_success_timestamp_seconds"
	DiscoveryFailing   = "synthetic_discovery_failing"
	Silence            = "synthetic_silence_seconds"
	OutageTurns        = "synthetic_outage_turns"

	ModelsProbed  = "synthetic_models_probed"
	ModelsLeftOut = "synthetic_models_left_out"
	ModelsListed  = "synthetic_models_listed_timestamp_seconds"

	SpansExported = "synthetic_spans_exported_total"
	SpansLost     = "synthetic_spans_lost_total"

	BoundLimit = "synthetic_bound_limit"
	BoundUsed  = "synthetic_bound_used"
)

// Metric describes one family.
type Metric struct {
	Name string
	Kind Kind
	// Unit is the base unit: "seconds", "tokens", "turns", "ratio", "" ...
	Unit string
	// Help is the HELP line; one sentence, its unit and its population said.
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
	sibling := []string{LabelService, LabelTarget, LabelWorkload, LabelWorker}
	with := func(base []string, more ...string) []string {
		return append(append([]string{}, base...), more...)
	}
	return []Metric{
		{TTFT, Histogram, "seconds", "Time from sending a turn to its first event that carries a token (content, reasoning or tool call), DNS, connect and TLS included. Turns without a first token give no sample here; they count in the SLO counters.", turn},
		{AnswerTTFT, Histogram, "seconds", "Time from sending a turn to the first non-empty content; differs from the TTFT for reasoning models.", turn},
		{TPOT, Histogram, "seconds", "Time per output token of a turn: (last token - first token) / (output tokens - tokens of the first event).", turn},
		{ITL, Histogram, "seconds", "Inter-token latency: the time between consecutive events that carry tokens. With speculative decoding one event carries several tokens.", turn},
		{TurnDuration, Histogram, "seconds", "Time from sending a turn to the end of its stream, of successful turns.", turn},
		{ConversationDuration, Histogram, "seconds", "Time from a conversation's scheduled start to the end of its last turn, of successful conversations.", job},
		{PhaseDuration, Histogram, "seconds", "Parts of a turn: dns, connect and tls are the time of the step (new connections only); headers and first_event are measured from sending the turn.", with(job, LabelPhase)},
		{ScheduleLag, Histogram, "seconds", "How late the prober itself sent a turn, against its schedule.", job},
		{ReadLag, Histogram, "seconds", "Largest delay in a turn between the arrival of a token's bytes and the prober's look at them. High values mean the prober is short of CPU; timestamps stay true when the kernel gives them.", job},
		{ProberLag, Gauge, "seconds", "How late the prober itself was: in more than 5 % of the last minute's time its goroutines ran at least so long after they were due; 0 below 10 ms.", nil},
		{ProberStarved, Gauge, "", "Whether the prober itself can judge nothing of a job (1): synthetic_prober_lag_seconds is above what any of its objectives and signals can bear, or most turns of the last two minutes were own faults; where none ended, the last one, for ten minutes.", job},

		{TTFTWindow, Summary, "seconds", "Quantiles of the TTFT over the last 60 seconds.", turn},
		{TPOTWindow, Summary, "seconds", "Quantiles of the TPOT over the last 60 seconds.", turn},
		{TurnDurationWindow, Summary, "seconds", "Quantiles of the turn duration over the last 60 seconds.", turn},

		{TurnsStarted, Counter, "turns", "Turns started. At every scrape it equals turns ended plus turns in flight.", turn},
		{Turns, Counter, "turns", "Turns ended, whatever their outcome, those that the prober itself ended included.", turn},
		{TurnsInFlight, Gauge, "turns", "Turns sent and not yet ended.", turn},
		{TurnFailures, Counter, "turns", "Turns that failed, by reason.", with(turn, LabelReason)},
		{TurnOwnFaults, Counter, "turns", "Turns that the prober itself spoiled, by reason: nothing could be sent (not_sent), or it was late (prober_late). No failures: they say nothing of the deployment.", with(turn, LabelReason)},
		{TurnsCanceled, Counter, "turns", "Turns cut short by our own shutdown or reload, or closed by a simulated user; no failures.", turn},
		{TurnsNotJudged, Counter, "turns", "Turns that an SLO left out, good or bad, because the prober itself had been too late for it in them or earlier in their conversations.", turn},
		{TurnsBuffered, Counter, "turns", "Turns of which at least 90 % of the token events came together though they were read in time: something between the server and the prober buffers. They have no TPOT and no ITL.", turn},

		{ConversationsStarted, Counter, "conversations", "Conversations started.", job},
		{Conversations, Counter, "conversations", "Conversations ended, whatever their outcome, those that the prober itself ended included.", job},
		{ConversationFailures, Counter, "conversations", "Conversations ended by a failed turn.", job},
		{ConversationsCanceled, Counter, "conversations", "Conversations cut short by the prober itself: its shutdown, a reload or a fault of its own; no failures.", job},
		{ConversationsSkipped, Counter, "conversations", "Conversations that were due but not started, by reason.", with(job, LabelReason)},
		{ConversationsInFlight, Gauge, "conversations", "Conversations started and not yet ended.", job},
		{ConversationsShort, Counter, "conversations", "Conversations that took fewer turns than planned because the answers had made their history too long, or one had no content to stand in it; no failures.", job},

		{UserEndpointErrors, Counter, "messages", "Follow-up messages that the user endpoint failed to write; a planned message stood in, and the target is not to blame.", job},

		{StreamComparisons, Counter, "comparisons", "Turns whose request was sent once more, not streamed: the answer was the same, different (two whole ones were alike, and the streamed one another), unsteady (the whole ones differed, too), or there was none to compare with. Absent without compare_streamed.", with(job, LabelVerdict)},

		{PromptTokens, Counter, "tokens", "Prompt tokens, as the server's usage counts them.", turn},
		{CachedPromptTokens, Counter, "tokens", "Prompt tokens served from the prefix cache, as the server's usage says.", turn},
		{CacheKnownPrompt, Counter, "tokens", "Prompt tokens of the turns whose usage said how many were cached: the denominator of the cached ratio.", turn},
		{OutputTokens, Counter, "tokens", "Output tokens: from the server's usage, or the number of token events where usage was missing.", turn},
		{ReasoningTokens, Counter, "tokens", "Output tokens that were spent on reasoning, as the server's usage says; 0 where it does not.", turn},
		{TurnsWithoutAnswer, Counter, "turns", "Turns whose tokens were no content: reasoning, a refusal or tool calls alone.", turn},
		{UsageMissing, Counter, "turns", "Turns that got tokens but no usage, whose output tokens are therefore an estimate.", turn},
		{OddAnswers, Counter, "turns", "Turns whose answer came in good order and is rubbish to read, or by another model than the one asked (model), by reason. No failures.", with(job, LabelReason)},
		{TokenEvents, Counter, "events", "Stream events that carried tokens.", turn},
		{CoalescedEvents, Counter, "events", "Stream events that arrived in one read with an earlier event and so share its timestamp.", turn},

		{LastTurn, Gauge, "seconds", "Unix time of the end of the last turn, whatever its outcome, canceled ones excepted.", job},

		{ConsecutiveFailed, Gauge, "turns", "Turns that failed in a row, up to now, for reasons other than load (http_429, which leaves it as it is) or wrong answers (content_mismatch, tool_call_invalid and schema_mismatch, which end it).", job},
		{BadTurn, Gauge, "seconds", "Unix time of the end of a bad turn, one of each kind: it failed (the reason says how), missed an SLO or was far above the usual (the reason is the SLI). The trace id is that of its traceparent header.", with(turn, LabelReason, LabelTraceID)},

		{SignalTurns, Counter, "turns", "Turns that a signal is known of; a turn without its value enters as its deadline, or as what it waited if that is longer.", signal},
		{SignalLog2, Counter, "", "Sum of log2(value / 1 us) over those turns. Its rate over that of synthetic_signal_turns_total is the log2 of the geometric mean in microseconds.", signal},
		{SignalLog2Squared, Counter, "", "Sum of the squares of log2(value / 1 us), for the standard error of the geometric mean.", signal},
		{SignalBaselineLog2, Counter, "", "Sum of log2(baseline / 1 us), each baseline as it was at the turn: what synthetic_signal_log2_total would be if nothing had changed.", signal},
		{SignalTail, Counter, "turns", "Turns beyond synthetic_signal_tail_limit_seconds.", signal},
		{TailLimit, Gauge, "seconds", "Value from which on a turn is in the tail: at least 2.5 times the recent level, more where single turns vary much; NaN while there is no baseline.", signal},
		{Baseline, Gauge, "seconds", "What a turn is compared with now: the usual geometric mean at this time of day and week; NaN in the first three hours.", signal},
		{BaselineYoung, Gauge, "", "Whether the baseline stands on less than a day (1), so that only large steps page, or not (0).", signal},
		{BaselineTurns, Gauge, "turns", "Turns that the baseline stands on.", signal},
		{BaselineNoise, Gauge, "", "Standard deviation of the natural logarithm of the 30-minute level around the baseline; NaN while it is young.", signal},
		{Excess, Gauge, "seconds", "By how much a part of the turns of the last minutes takes longer than usual: connect, queue_prefill (the rest of the TTFT), proxy_buffering (what of it went by while tokens were kept back) or decode; NaN while too few turns are known.", with(turn, LabelPart)},
		{PageScore, Gauge, "", "How near the signal is to a page: from 1 on it is one. Limits are chosen from the target's own history; 0 where nothing is known.", signal},
		{TicketScore, Gauge, "", "The same for a ticket.", signal},
		{RegressionRatio, Gauge, "ratio", "Geometric mean over the last five minutes of value / baseline; NaN where that is not known.", signal},
		{RegressionSince, Gauge, "seconds", "When the regression began that pages or is a ticket, as Unix time; 0 while there is none.", signal},
		{RegressionDelay, Gauge, "seconds", "After how long a rise to that ratio to the baseline pages, in half of the cases, without what scraping and evaluating take; +Inf if it does not, NaN while the history is too short to tell.", append(slices.Clone(signal), LabelRatio)},
		{Detectable, Gauge, "ratio", "Least ratio to the baseline that pages within that time, in half of the cases, at the promised rate of pages for nothing; +Inf where none does, NaN while the history is too short to tell.", append(slices.Clone(signal), LabelWithin)},
		{ExpectedFalsePages, Gauge, "", "Pages for nothing that 30 days of this signal bring at the limits in force; NaN while the history is too short to tell.", signal},
		{RegressionHistory, Gauge, "seconds", "Length of the history that limits are chosen from.", signal},
		{BaselineMoved, Gauge, "seconds", "When a lasting level that no objective minds was last taken for the usual, as Unix time; 0 for never.", signal},
		{CachedBaseline, Gauge, "ratio", "Usual share of prompt tokens served from the prefix cache at this time of day; NaN while it is not known.", turn},
		{SiblingPageScore, Gauge, "", "How near a replica is to a page because it is slower, or fails more, than its siblings do: from 1 on it is one. Absent for targets without a service; the label worker is there behind a front door.", sibling},
		{SiblingRatio, Gauge, "ratio", "Geometric mean of a replica's turns of the last three minutes over the median of its siblings', cached prompts and others apart; NaN where that is not known.", with(sibling, LabelTurn, LabelSignal)},
		{SiblingFailed, Gauge, "ratio", "Share of a replica's last turns, about twenty, that failed; refusals for load are none of them.", sibling},
		{Expected, Gauge, "seconds", "What the benchmark that the configuration names measured, by statistic: geomean (which turns are compared with) and quantiles; absent without a benchmark, and where it has too few turns to tell.", with(signal, LabelStatistic)},
		{ExpectedTurns, Gauge, "turns", "Turns of the benchmark that synthetic_expected_seconds stands on; absent where it does not say.", signal},
		{ExpectedInfo, Gauge, "", "Which level of which benchmark a job is compared with; always 1. The label turns is pooled where the file does not tell first from follow-up turns: its figures are then shown and not compared with.", with(job, "run", "variant", "level", "turns")},

		{SLOTurns, Counter, "turns", "Turns judged by an SLO, at its exact threshold.", with(turn, LabelSLO)},
		{SLOViolations, Counter, "turns", "Turns that violated an SLO, failed turns included.", with(turn, LabelSLO)},
		{SLOObjective, Gauge, "ratio", "Wanted share of good turns of an SLO.", []string{LabelSLO}},
		{SLOThreshold, Gauge, "seconds", "Highest good value of an SLO; absent for availability.", []string{LabelSLO}},
		{SLOWindow, Gauge, "seconds", "Period of an SLO's error budget.", []string{LabelSLO}},

		{ServerMetricsUp, Gauge, "", "Whether all pages of a target's own metrics were read last time (1) or not (0); absent where none are configured.", []string{LabelTarget}},
		{ServerDrafted, Counter, "tokens", "Tokens that a target's drafter proposed while we looked, by its own count; absent where it does not count them.", []string{LabelTarget}},
		{ServerAccepted, Counter, "tokens", "Drafted tokens that were accepted while we looked, by the target's own count; absent where it does not count them.", []string{LabelTarget}},
		{ServerAcceptance, Gauge, "ratio", "Share of drafted tokens that were accepted, as a target averages it that does not count them; absent while it is idle or drafts nothing.", []string{LabelTarget}},

		{CanaryScore, Gauge, "", "How sure it is that a target's answers to the canary's prompts are no longer those of the reference: from 1 on they are not. Absent for a target without a canary, and until its first round.", []string{LabelTarget}},
		{CanaryDistance, Gauge, "", "Distance of the last round's answers from the reference: mean difference of the log-probabilities of the first tokens, or, without them, the mean share of the text that differs.", []string{LabelTarget}},
		{CanaryRounds, Counter, "rounds", "Rounds in which all of the canary's prompts were answered and compared.", []string{LabelTarget}},
		{CanaryFailures, Counter, "rounds", "Rounds in which a prompt was not answered: nothing was compared.", []string{LabelTarget}},
		{CanaryTokens, Counter, "tokens", "Tokens that the canary's prompts and answers took, by the server's usage.", []string{LabelTarget}},

		{TargetInfo, Gauge, "", "A target's model, connection mode and address, without user information and query; always 1.", []string{LabelTarget, "model", "connection", LabelURL}},
		{TrafficRate, Gauge, "conversations per second", "Configured rate of conversation starts while there is no sign of a fault; absent for closed-loop traffic.", job},
		{ProbeRate, Gauge, "conversations per second", "Rate of conversation starts now: that of bursts in one; absent for closed-loop traffic.", job},
		{Bursts, Counter, "", "Bursts that began at the first sign of a fault, by reason: a turn failed (failed), or a signal was on its way to a page (slower).", with(job, LabelReason)},
		{TimestampSourceInfo, Gauge, "", "Where event timestamps come from: kernel or read; always 1.", []string{"source"}},
		{BuildInfo, Gauge, "", "Version of this binary; always 1.", []string{"version", "revision", "branch", "goversion", "goos", "goarch", "tags"}},

		{ConfigLastReloadSuccessful, Gauge, "", "Whether the last load of the configuration succeeded (1) or failed (0).", nil},
		{ConfigLastReloadSuccess, Gauge, "seconds", "Unix time of the last successful load of the configuration.", nil},
		{SchedulerHeartbeat, Gauge, "seconds", "Unix time of a traffic loop's last sign of life.", job},

		{Silence, Gauge, "seconds", "Age of the last turn from which on the job counts as silent: 12 mean intervals between conversations and the longest turn, 5 minutes at least. It is there for each job that is configured, and rules judge what it has.", job},
		{OutageTurns, Gauge, "turns", "Failures in a row from which on the target counts as down. The url is what is probed, with the host's name in place of a loopback address: probers that share it see one deployment.", with(job, LabelURL)},

		{Throttled, Counter, "", "Seconds for which reads of a target were delayed, all its connections together, because what it sends takes more than its share of the prober's CPU.", []string{LabelTarget}},
		{TurnLogDropped, Counter, "turns", "Turns that are missing in the log of turns, because it could not be written or could not keep up; absent where none is written.", nil},
		{ModelsProbed, Gauge, "", "Models of a target that are probed, each as a target TARGET/MODEL of its own; absent where models are not followed.", []string{LabelTarget}},
		{ModelsLeftOut, Gauge, "", "Models of a target that would be probed, but for max_models.", []string{LabelTarget}},
		{ModelsListed, Gauge, "seconds", "Unix time at which a target last said which models it serves; 0 for never. Those that are probed are as of then.", []string{LabelTarget}},
		{DiscoveredTargets, Gauge, "", "Targets of a group that were discovered, or leased of a module, and are probed; absent where nothing is.", []string{LabelGroup}},
		{DiscoveryLeftOut, Gauge, "", "Discovered objects of a group that are no targets, by reason: an address that is none (address), a host outside allowed_hosts (host), labels or their values (labels), beyond max_targets (max_targets), or the name of another (name).", []string{LabelGroup, LabelReason}},
		{DiscoverySucceeded, Gauge, "seconds", "Unix time at which it was last known which targets a group has, of its sources that which answered least lately; 0 for never. Those that are probed are as of then.", []string{LabelGroup}},
		{DiscoveryFailing, Gauge, "", "Whether the discovery of a group fails now (1), or finds fewer targets than min_targets (1); what it found before stays.", []string{LabelGroup}},
		{SpansExported, Counter, "", "Spans that the receiver of tracing.url took; absent where none are exported.", nil},
		{SpansLost, Counter, "", "Spans that it did not get, by reason: the queue had no room (queue_full), or it could not be reached or refused them (not_taken); absent where none are exported.", []string{LabelReason}},
		{BoundLimit, Gauge, "", "Limit of a bound of this process, in the unit that its name ends in (see docs/reference/limits.md); absent where there is none, and for a bound of single turns before the first.", []string{LabelBound}},
		{BoundUsed, Gauge, "", "What is in use of a bound now; for a bound of single turns, what was used when it came nearest to its limit.", []string{LabelBound}},
	}
}

// SkipReasons are the values of the reason label of ConversationsSkipped.
func SkipReasons() []string { return probe.SkipReasons() }

// Phases are the values of the phase label.
func Phases() []string { return []string{"dns", "connect", "tls", "headers", "first_event"} }
