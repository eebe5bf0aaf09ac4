package dashboard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

func targetDetail(in Input) *board {
	b := newBoard(in, TargetUID, "Target", "What the users of one deployment see: which turns are slower or fail, since when, and in which part.", varTarget, varWorkload)
	b.WithPanel(b.table("State", "The state, the start of the fault or the end of the last page of a day, its likely cause, and the figures that the alerts name.",
		"State", b.targetColumns()[2:11], b.in.targetQueries()...).Height(3))
	for _, kind := range probe.TurnKinds() {
		b.WithPanel(b.ttft(kind))
	}
	b.WithPanel(b.chart("TPOT", "s", "Time per output token after the first, of the last 60 seconds, of first turns and follow-ups. 0.05 s is 20 tokens a second. A step up at the same load points to the engine.",
		slices.Concat(quantiles("synthetic_tpot_window_seconds", ""), []query{{"usual", `max(synthetic_baseline_seconds{signal="tpot"} > 0)`}}, in.limits(slo.TPOT, probe.TurnKinds()...))...))
	b.WithPanel(b.phases())
	b.WithPanel(stacked(b.failures()))
	b.WithPanel(b.chart("Cached share of prompt tokens", "percentunit", "Share of prompt tokens that the prefix cache served, for turns whose usage reports it. Follow-ups should be high. If they fall, the routing lost its affinity or the cache evicts, and their TTFT rises.",
		query{"{{turn}} turns", share("turn", "synthetic_cached_prompt_tokens_total", "synthetic_cache_reported_prompt_tokens_total")}, query{"{{turn}} turns, usual", `max by (turn) (synthetic_cached_baseline_ratio > 0)`}).Max(1))
	b.WithPanel(b.turns())
	b.WithPanel(b.chart("Tokens per second", "short", "Tokens of the probes, from the server's usage: the cost of the probes, not the capacity of the deployment. Turns count when they end.",
		query{"prompt", `sum(rate(synthetic_prompt_tokens_total[$__rate_interval]))`}, query{"output", `sum(rate(synthetic_output_tokens_total[$__rate_interval]))`}, query{"reasoning", `sum(rate(synthetic_reasoning_tokens_total[$__rate_interval]))`}))
	b.WithPanel(b.chart("Turn duration", "s", "Time from sending a turn to the end of its stream, of successful turns of the last 60 seconds. It is about TTFT + TPOT × output tokens, so longer answers take longer.",
		quantiles("synthetic_turn_duration_window_seconds", "")...))
	b.WithRow(dashboard.NewRowBuilder("The server's own metrics").Id(b.nextID()))
	b.serverPanels()
	b.WithRow(dashboard.NewRowBuilder("Bad turns").Id(b.nextID()))
	if len(in.SLOs) > 0 {
		b.WithPanel(b.chart("Bad turns by objective", "suffix:/min", "Turns per minute that missed an objective, failed turns included. Each turn is judged exactly.",
			query{"{{slo}}", perMinute("slo", "synthetic_slo_violations_total")}, query{"judged", `max(sum by (slo) (rate(synthetic_slo_turns_total[$__rate_interval]))) * 60`}))
	}
	b.WithPanel(b.distribution("TTFT of every turn", "synthetic_ttft_seconds"))
	b.WithPanel(b.distribution("TPOT of every turn", "synthetic_tpot_seconds"))
	b.WithRow(b.baselineRow())
	b.WithRow(b.answersRow())
	return b
}

func (b *board) ttft(kind probe.TurnKind) *timeseries.PanelBuilder {
	title := map[probe.TurnKind]string{probe.First: "TTFT, first turns", probe.Followup: "TTFT, follow-up turns"}[kind]
	usual := query{"usual", fmt.Sprintf(`max(synthetic_baseline_seconds{signal="ttft",turn=%q} > 0)`, kind)}
	return b.chart(title, "s", "Time to the first token of the last 60 seconds. Dashed: the objective, and the usual level at this time of day. If only first turns rise, check prefill and queueing; if only follow-ups rise, check the prefix cache and the routing. A gap means that no turn got a token; such turns count as failures.",
		slices.Concat(quantiles("synthetic_ttft_window_seconds", fmt.Sprintf(",turn=%q", kind)), []query{usual}, b.in.limits(slo.TTFT, kind))...)
}

// phases stacks means that add up to the mean TTFT. Those of a new connection are spread over all turns, and the
// headers, the first event and the first token are measured from sending the turn.
func (b *board) phases() *timeseries.PanelBuilder {
	mean := func(phases string) string {
		return fmt.Sprintf(`sum(rate(synthetic_phase_duration_seconds_sum{phase=~"%s"}[$__rate_interval])) / sum(rate(synthetic_phase_duration_seconds_count{phase="first_event"}[$__rate_interval]))`, phases)
	}
	connecting, ttft := "("+mean("dns|connect|tls")+")", `sum(rate(synthetic_ttft_window_seconds_sum[$__rate_interval])) / sum(rate(synthetic_ttft_window_seconds_count[$__rate_interval]))`
	return stacked(b.chart("Phases of a turn", "s", "Means that add up to the mean TTFT. Connecting: DNS, TCP and TLS, spread over all turns. Headers: from the request to the headers. First event: from the headers to the first event, with a token or not. First token: the rest. Queue and prefill are in the part in which the server waits.",
		query{"connecting", connecting}, query{"headers", "clamp_min(" + mean("headers") + " - " + connecting + ", 0)"},
		query{"first event", "clamp_min(" + mean("first_event") + " - " + mean("headers") + ", 0)"}, query{"first token", "clamp_min(" + ttft + " - " + mean("first_event") + ", 0)"}))
}

func (b *board) failures() *timeseries.PanelBuilder {
	return b.chart("Failures", "suffix:/min", "Failed turns per minute by reason. connect_error, tls_error: the network or the process. timeout_first_token, stall: a stuck or overloaded engine. http_429: busy, not down. truncated, aborted: a proxy or an engine failed amid an answer.",
		query{"{{reason}}", perMinute("reason", "synthetic_turn_failures_total") + " > 0"}).
		NoValue("no turn failed").
		OverrideByRegexp("/_error$/", line(red)).OverrideByRegexp("/^(timeout_.*|stall)$/", line("purple")).
		OverrideByRegexp("/^http_5xx$/", line(orange)).OverrideByRegexp("/^http_429$/", line("yellow"))
}

func (b *board) turns() *timeseries.PanelBuilder {
	return b.chart("Turns per minute", "suffix:/min", "Turns started, ended well, and failed: the number of samples of all other figures. Own: lost to a fault of the prober or its shutdown, or not judged because it was late; they say nothing about the target.",
		query{"started", `sum(rate(synthetic_turns_started_total[$__rate_interval])) * 60`},
		query{"success", `clamp_min(sum(rate(synthetic_turns_total[$__rate_interval])) - sum(rate(synthetic_turn_failures_total[$__rate_interval])) - sum(rate(synthetic_turn_own_faults_total[$__rate_interval])) - sum(rate(synthetic_turns_canceled_total[$__rate_interval])), 0) * 60`},
		query{"failed", `sum(rate(synthetic_turn_failures_total[$__rate_interval])) * 60`},
		query{"own", `(sum(rate(synthetic_turn_own_faults_total[$__rate_interval])) + sum(rate(synthetic_turns_canceled_total[$__rate_interval])) + sum(rate(synthetic_turns_not_judged_total[$__rate_interval]))) * 60`}).
		OverrideByRegexp("/^failed$/", line(red))
}

// serverPanels show what this Prometheus scrapes from the servers of the selected jobs, beside the gauges that the
// prober reads from the target.
func (b *board) serverPanels() {
	both := func(title, unit, about string, queries ...query) *timeseries.PanelBuilder {
		return b.chart(title, unit, about+" Prober: as the target's server_metrics say. Job: all servers of a job that this Prometheus scrapes (vLLM, SGLang, TensorRT-LLM); select that of the target.", queries...).
			Span(6).NoValue("the target has no server_metrics, and no server is scraped")
	}
	b.WithPanel(both("Requests", "short", "Requests of all clients that run and that wait. The client sees a queue as a longer TTFT.",
		query{"running, prober", `max(synthetic_server_requests_running)`}, query{"waiting, prober", `max(synthetic_server_requests_waiting)`},
		query{"running, job {{job}}", scraped("sum by (job) (%s)", "vllm:num_requests_running", "sglang:num_running_reqs", "trtllm_num_requests_running")},
		query{"waiting, job {{job}}", scraped("sum by (job) (%s)", "vllm:num_requests_waiting", "sglang:num_queue_reqs", "trtllm_num_requests_waiting")}))
	b.WithPanel(both("KV cache, hit rate", "percentunit", "Near 100 % in use the server preempts requests and the queue grows.",
		query{"in use, prober", `max(synthetic_server_kv_cache_usage_ratio)`}, query{"in use, job {{job}}", scraped("max by (job) (%s)", "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage", "trtllm_kv_cache_utilization")},
		query{"hit rate, job {{job}}", scraped("sum by (job) (rate(%s[$__rate_interval]))", "vllm:prefix_cache_hits_total") + " / " + scraped("sum by (job) (rate(%s[$__rate_interval]))", "vllm:prefix_cache_queries_total") + " or " + scraped("avg by (job) (%s)", "sglang:cache_hit_rate", "trtllm_kv_cache_hit_rate")}).Max(1))
	b.WithPanel(both("Preemptions", "suffix:/min", "Requests that lost their place in the KV cache and compute their prompt again.",
		query{"prober", `max(rate(synthetic_server_preemptions_total[$__rate_interval])) * 60`}, query{"job {{job}}", scraped("sum by (job) (rate(%s[$__rate_interval])) * 60", "vllm:num_preemptions_total", "sglang:num_retracted_requests_total")}))
	b.WithPanel(both("Time without a token", "s", "Time since the server made its last token. If requests run, a long time means that an engine is stuck. Unreadable, on the right axis, is 1 while the metrics of the target cannot be read.",
		query{"without a token, prober", `max(synthetic_server_token_age_seconds)`}, query{"unreadable", `1 - min(synthetic_server_metrics_up)`}).OverrideByRegexp("/^unreadable$/", right("none")))
}

// scraped returns the first of several servers' families that each selected job exports.
func scraped(form string, families ...string) (expr string) {
	for _, f := range families {
		expr += " or " + fmt.Sprintf(form, f+`{job=~"$`+varServer+`"}`)
	}
	return "(" + strings.TrimPrefix(expr, " or ") + ")"
}

// distribution shows every turn, with a dot for each that carries a trace.
func (b *board) distribution(title, family string) *heatmap.PanelBuilder {
	rate := fmt.Sprintf("sum(rate(%s[$__rate_interval])) * 60", family)
	classic := fmt.Sprintf("sum by (le) (rate(%s_bucket[$__rate_interval])) * 60", family)
	return heatmap.NewPanelBuilder().Id(b.nextID()).Title(title).Datasource(source()).Span(8).Height(7).Unit("s").NoValue(nothing).
		Description("Turns per minute in each bucket; darker means more. Two bands are two groups of turns, such as cache hits and misses. A dot is a single turn with its trace, if Prometheus stores exemplars.").
		Calculate(false).                                                                                             // Prometheus has counted already
		YAxis(heatmap.NewYAxisConfigBuilder().Unit("s")).FilterValues(heatmap.NewFilterValueRangeBuilder().Le(1e-9)). // empty buckets stay background
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Oranges").Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).Steps(64)).
		CellValues(heatmap.NewCellValuesBuilder().Unit("suffix:/min").Decimals(2)).HideLegend().CellGap(1).
		WithTarget(b.target(0, query{"{{le}}", rate + " or (" + classic + " unless on () " + rate + ")"}).Range().Format("heatmap").Exemplar(true))
}

// baselineRow has the signals beside their baselines, and the smallest regressions that would be found.
func (b *board) baselineRow() *dashboard.RowBuilder {
	return dashboard.NewRowBuilder("The baseline, and what would be detected").Id(b.nextID()).
		WithPanel(b.table("Timings against the usual", "For each timing: what is usual at this time of the week, the last five minutes as a multiple of it, the multiple from which it pages, the scores (1 pages or opens a ticket), and the smallest multiple that pages within an hour.",
			"× usual", []column{
				col("signal", "Timing", "", 70), col("Value #A", "Usual, first turns", "s", 130), col("Value #B", "Usual, follow-ups", "s", 130),
				col("Value #C", "× usual", "none", 90, coloured(2, 1.15, 2)...), col("Value #D", "Pages from ×", "none", 105, decimals(2)), col("Value #E", "Page", "none", 70, coloured(2, 0.5, 1)...),
				col("Value #F", "Ticket", "none", 70, coloured(2, 0.5, 1)...), col("Value #G", "Slower since", date, 150), col("Value #H", "Found in 1 h from ×", "none", 0, decimals(2)),
			},
			baselineQueries()...).Height(5)).
		WithPanel(stacked(b.chart("Additional seconds before the first token, by part", "s", "Seconds by which each part of a turn exceeds its usual time. Connecting is DNS, TCP and TLS; queue or prefill is the rest of the TTFT. Decoding is not shown: see the ratio of TPOT.",
			query{"{{part}}", `max by (part) (synthetic_excess_seconds{part!="decode"}) > 0`})).Span(24))
}

func baselineQueries() (out []string) {
	for _, expr := range []string{
		`synthetic_baseline_seconds{turn="first"}`, `synthetic_baseline_seconds{turn="followup"}`, `synthetic_regression_ratio`, `synthetic_regression_limit_ratio`,
		`synthetic_regression_page_score`, `synthetic_regression_ticket_score`, `1000 * (synthetic_regression_since_timestamp_seconds > 0)`, `synthetic_regression_detectable_ratio < 100`,
	} {
		out = append(out, "max by (signal) ("+expr+") or on (signal) group by (signal) (synthetic_regression_page_score) * NaN")
	}
	return out
}

// answersRow shows what is wrong with answers that arrive, and what gateways and sessions report.
func (b *board) answersRow() *dashboard.RowBuilder {
	of := func(family string) string { return share("target, workload", family, "synthetic_turns_total") }
	return dashboard.NewRowBuilder("Answers, gateway and sessions").Id(b.nextID()).
		WithPanel(stacked(b.chart("Finish reasons", "percentunit", "Share of the answers by the reason with which they ended. If length rises, answers became longer or no longer end.",
			query{"{{finish_reason}}", `sum by (finish_reason) (rate(synthetic_finish_reasons_total[$__rate_interval])) / on () group_left () (sum(rate(synthetic_finish_reasons_total[$__rate_interval])) > 0)`})).Max(1)).
		WithPanel(b.chart("Unusual answers", "percentunit", "Share of the turns: answered by another model, without content, with a history that the server cut, sent in one burst; and the share of answers whose reference code is wrong or of another conversation, if recall is on.",
			query{"other model", of("synthetic_other_model_turns_total")}, query{"no content", of("synthetic_turns_without_answer_total")}, query{"history cut", of("synthetic_context_cut_total")}, query{"one burst", of("synthetic_turns_buffered_total")},
			query{"code {{result}}", `sum by (result) (rate(synthetic_recall_turns_total{result!="right"}[$__rate_interval])) / on () group_left () (sum(rate(synthetic_turns_total[$__rate_interval])) > 0)`})).
		WithPanel(b.chart("Gateway", "suffix:/min", "Turns per minute by the server behind the gateway that answered, and the gateway's retries and fallbacks. Known if a gateway such as LiteLLM says so in its headers.",
			query{"{{backend}}", perMinute("backend", "synthetic_gateway_turns_total")}, query{"retries", `sum(rate(synthetic_gateway_retries_total[$__rate_interval])) * 60 > 0`},
			query{"fallbacks", `sum(rate(synthetic_gateway_fallbacks_total[$__rate_interval])) * 60 > 0`}).NoValue("no gateway reports anything")).
		WithPanel(b.chart("Overhead of the gateway", "s", "Mean time to the gateway's headers that the answering server did not use. The TTFT includes it.",
			query{"mean", `sum(rate(synthetic_gateway_overhead_seconds_sum[$__rate_interval])) / sum(rate(synthetic_gateway_overhead_seconds_count[$__rate_interval]))`}).NoValue("no gateway reports anything")).
		WithPanel(b.chart("Sessions", "percentunit", "Share of the follow-up turns that the worker of the previous turn answered, and the cached share of their prompts. Known if answers name their worker.",
			query{"kept", `sum(rate(synthetic_session_turns_total{session="kept"}[$__rate_interval])) / (sum(rate(synthetic_session_turns_total[$__rate_interval])) > 0)`},
			query{"cached, {{session}}", share("session", "synthetic_session_cached_prompt_tokens_total", "synthetic_session_prompt_tokens_total")}).NoValue("no answer names its worker"))
}
