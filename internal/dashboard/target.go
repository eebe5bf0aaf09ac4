package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// targetDetail answers: what does a user of this deployment see, and which
// part of a turn is to blame?
func targetDetail(objectives []slo.Objective) board {
	s := jobScope()
	var latency []panel
	for _, l := range latencies() {
		latency = append(latency, l.pair(s, objectives)...)
	}
	return board{
		file:  "target-detail.json",
		uid:   TargetUID,
		title: "Synthetic / Target detail",
		about: "What a user of a deployment sees: traffic, outcomes, every latency for first and follow-up turns apart, phases, cache and tokens.",
		rows: []row{
			{title: "Traffic and outcomes", panels: trafficPanels(s)},
			{title: "Latency", panels: latency},
			{title: "Parts of a turn", panels: phasePanels(s)},
			{title: "Tokens and cache", panels: tokenPanels(s)},
			{title: "Speculative decoding", panels: speculationPanels(s)},
			{title: "Distribution of the TTFT: $" + varTarget, repeat: varTarget, panels: heatPanels(s)},
		},
	}
}

func trafficPanels(s scope) []panel {
	return []panel{
		{
			title: "Turns ended", unit: units.CountsPerMinute,
			says:    "Turns ended per minute, whatever their outcome.",
			read:    "Follow-ups outnumber first turns by the length of the conversations. Every other figure here stands on this many samples.",
			act:     "When it falls while conversations are in flight, turns hang; when both fall, see skipped conversations and the prober health.",
			queries: []query{{expr: s.perMinute(perTurn(), metrics.Turns), legend: jobLegend + " {{turn}}"}},
		},
		outcomes(s),
		{
			title: "Conversations in flight", unit: units.Short,
			says:    "Conversations started and not yet ended, at the moments of the scrapes.",
			read:    "By Little's law it is close to starts per second × mean duration. Each has at most one turn in flight.",
			act:     "A steady climb at constant starts means that turns take longer and longer or hang; at the cap, starts are skipped.",
			queries: []query{{expr: s.total(perJob(), metrics.ConversationsInFlight), legend: jobLegend}},
		},
		{
			title: "Conversations skipped", unit: units.CountsPerMinute,
			says: "Conversations per minute that were due and not started, by reason.",
			read: "It is 0 in good order. max_concurrency: too many are still in flight; budget: the tokens of this minute are spent; late: the prober itself was overdue.",
			act:  "A skipped conversation is a missing sample. Raise the cap or the budget, or lower the rate, so that the probes keep their schedule; against late, give the prober more CPU.",
			queries: []query{{
				expr:   s.perMinute(append(perJob(), metrics.LabelReason), metrics.ConversationsSkipped),
				legend: jobLegend + " {{reason}}",
			}},
		},
		// The trace ids that the alerts name.
		{
			view: tableView{columns: []column{
				{field: metrics.LabelTarget, title: "Target"},
				{field: metrics.LabelWorkload, title: "Workload"},
				{field: metrics.LabelTurn, title: "Turn"},
				{field: metrics.LabelReason, title: "Reason"},
				{field: metrics.LabelTraceID, title: "Trace"},
				{field: "Value", title: "Ended ago", unit: units.Seconds, decimals: 0},
			}},
			title: "Bad turns", unit: units.Seconds,
			says:  "A recent bad turn of each kind, with the trace id of the traceparent header that its request sent. It failed, missed an SLO or was far above the usual; the reason says which. Each prober shows its own.",
			read:  "A reason such as stall is a failure; ttft or tpot is a turn that succeeded, late. The entry changes every few minutes at most and goes an hour after the last bad turn.",
			act:   "Look the trace up in those of router and engine: it says where that turn waited. More are in the exemplars of the TTFT.",
			width: gridColumns, height: 6,
			empty: "no bad turn within the hour",
			queries: []query{{
				expr:   s.age(append(perTurn(), metrics.LabelReason, metrics.LabelTraceID), metrics.BadTurn),
				legend: "{{trace_id}}",
			}},
		},
	}
}

func outcomes(s scope) panel {
	succeeded := s.rate(nil, metrics.Turns) + " - " + s.rate(nil, metrics.TurnFailures) +
		" - " + s.rate(nil, metrics.TurnsCanceled)
	return panel{
		view: graphView{stacked: true, colors: []seriesColor{
			{"/^success$/", green}, {"/^http_429$/", yellow}, {"/^(connect|tls)_error$/", red},
			{"/^(timeout_.*|stall)$/", purple}, {"/^http_5xx$/", orange}, {"/^canceled$/", gray},
		}},
		title: "Outcomes", unit: units.CountsPerMinute,
		says: "Turns ended per minute by how they ended, of all selected targets and workloads. The heights add up to all turns.",
		read: "Green is success. http_429 is a busy deployment, not one that is down. canceled is the prober's own shutdown or reload and no failure.",
		act:  "connect_error, tls_error: network or process. timeout_first_token, stall: a wedged or overloaded engine behind a healthy /health. truncated, error_event, malformed: a proxy or an engine that died in the middle.",
		queries: []query{
			// Rounding of the three rates must not dip below zero.
			{expr: "clamp_min(" + succeeded + ", 0) * 60", legend: "success"},
			{expr: s.perMinute([]string{metrics.LabelReason}, metrics.TurnFailures), legend: "{{reason}}"},
			{expr: s.perMinute(nil, metrics.TurnsCanceled), legend: "canceled"},
		},
	}
}

func phasePanels(s scope) []panel {
	p := panel{
		view: graphView{logarithmic: true},
		says: "Parts of a turn: dns, connect and tls take the time of the step and exist on new connections only; headers and first_event are measured from sending the turn. First turns and follow-ups are together here.",
		read: "The scale is logarithmic. headers far below first_event is a server that answers early and computes late; the two together mean that headers wait for the first token.",
		act:  "dns, connect and tls point to the network in between; a late header to the proxy, the router or the queue; the rest is the engine.",
		unit: units.Seconds,
	}
	var out []panel
	for _, q := range quantiles()[:2] {
		p.title = "Phases, " + metrics.Statistic(q)
		p.queries = []query{{
			expr:   s.quantile(q, append(perJob(), metrics.LabelPhase), metrics.PhaseDuration),
			legend: jobLegend + " {{phase}}",
		}}
		out = append(out, p)
	}
	return out
}

func heatPanels(s scope) []panel {
	var out []panel
	for _, kind := range probe.TurnKinds() {
		out = append(out, panel{
			view:  heatmapView{},
			title: "TTFT by bucket, " + turnName(kind),
			says:  "How many turns per minute had a TTFT within each bucket; the darker, the more.",
			read:  "Two bands are two populations, such as cache hits and misses. The selected workloads are added up here: pick one to keep prompt classes apart.",
			act:   "When a second band appears above the first, some turns miss the cache or go to a slower replica.",
			unit:  units.Seconds,
			width: 12, height: 9,
			queries: []query{{expr: s.buckets(nil, metrics.TTFT, turnIs(kind)) + " * 60", legend: "{{le}}"}},
		})
	}
	return out
}
