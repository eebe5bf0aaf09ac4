package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
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
	return []panel{turnRate(s), outcomes(s), conversationsInFlight(s), skipped(s), badTurns(s)}
}

func turnRate(s scope) panel {
	return panel{
		view:  graph{},
		title: "Turns ended",
		about: about{
			"Turns ended per minute, whatever their outcome.",
			"Follow-ups outnumber first turns by the length of the conversations. Every other figure here stands on this many samples.",
			"When it falls while conversations are in flight, turns hang; when both fall, see skipped conversations and the prober health.",
		},
		unit:  units.CountsPerMinute,
		width: 12, height: 8,
		queries: []query{{expr: s.perMinute(perTurn(), metrics.Turns), legend: jobLegend + " {{turn}}"}},
	}
}

func outcomes(s scope) panel {
	succeeded := s.rate(nil, metrics.Turns) + " - " + s.rate(nil, metrics.TurnFailures) +
		" - " + s.rate(nil, metrics.TurnsCanceled)
	return panel{
		view: graph{stacked: true, colors: []seriesColor{
			{"/^success$/", green}, {"/^http_429$/", yellow}, {"/^(connect|tls)_error$/", red},
			{"/^(timeout_.*|stall)$/", purple}, {"/^http_5xx$/", orange}, {"/^canceled$/", gray},
		}},
		title: "Outcomes",
		about: about{
			"Turns ended per minute by how they ended, of all selected targets and workloads. The heights add up to all turns.",
			"Green is success. http_429 is a busy deployment, not one that is down. canceled is the prober's own shutdown or reload and no failure.",
			"connect_error, tls_error: network or process. timeout_first_token, stall: a wedged or overloaded engine behind a healthy /health. truncated, error_event, malformed: a proxy or an engine that died in the middle.",
		},
		unit:  units.CountsPerMinute,
		width: 12, height: 8,
		queries: []query{
			// Rounding of the three rates must not dip below zero.
			{expr: "clamp_min(" + succeeded + ", 0) * 60", legend: "success"},
			{expr: s.perMinute([]string{metrics.LabelReason}, metrics.TurnFailures), legend: "{{reason}}"},
			{expr: s.perMinute(nil, metrics.TurnsCanceled), legend: "canceled"},
		},
	}
}

func conversationsInFlight(s scope) panel {
	return panel{
		view:  graph{},
		title: "Conversations in flight",
		about: about{
			"Conversations started and not yet ended, at the moments of the scrapes.",
			"By Little's law it is close to starts per second × mean duration. Each has at most one turn in flight.",
			"A steady climb at constant starts means that turns take longer and longer or hang; at the cap, starts are skipped.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{{expr: s.total(perJob(), metrics.ConversationsInFlight), legend: jobLegend}},
	}
}

func skipped(s scope) panel {
	return panel{
		view:  graph{},
		title: "Conversations skipped",
		about: about{
			"Conversations per minute that were due and not started, by reason.",
			"It is 0 in good order. max_concurrency: too many are still in flight; budget: the tokens of this minute are spent; late: the prober itself was overdue.",
			"A skipped conversation is a missing sample. Raise the cap or the budget, or lower the rate, so that the probes keep their schedule; against late, give the prober more CPU.",
		},
		unit:  units.CountsPerMinute,
		width: 12, height: 8,
		queries: []query{{
			expr:   s.perMinute(append(perJob(), metrics.LabelReason), metrics.ConversationsSkipped),
			legend: jobLegend + " {{reason}}",
		}},
	}
}

func phasePanels(s scope) []panel {
	p := panel{
		view: graph{logarithmic: true},
		about: about{
			"Parts of a turn: dns, connect and tls take the time of the step and exist on new connections only; headers and first_event are measured from sending the turn. First turns and follow-ups are together here.",
			"The scale is logarithmic. headers far below first_event is a server that answers early and computes late; the two together mean that headers wait for the first token.",
			"dns, connect and tls point to the network in between; a late header to the proxy, the router or the queue; the rest is the engine.",
		},
		unit:  units.Seconds,
		width: 12, height: 8,
	}
	var out []panel
	for _, q := range quantiles()[:2] {
		p.title = "Phases, " + q.name
		p.queries = []query{{
			expr:   s.quantile(q.q, append(perJob(), metrics.LabelPhase), metrics.PhaseDuration),
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
			view:  heat{},
			title: "TTFT by bucket, " + turnName(kind),
			about: about{
				"How many turns per minute had a TTFT within each bucket; the darker, the more.",
				"Two bands are two populations, such as cache hits and misses. The selected workloads are added up here: pick one to keep prompt classes apart.",
				"When a second band appears above the first, some turns miss the cache or go to a slower replica.",
			},
			unit:  units.Seconds,
			width: 12, height: 9,
			queries: []query{{
				expr:   s.buckets(nil, metrics.TTFT, turnIs(kind)) + " * 60",
				legend: "{{le}}",
				format: prometheus.PromQueryFormatHeatmap,
			}},
		})
	}
	return out
}
