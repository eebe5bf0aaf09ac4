package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
)

// perTarget are the labels of what a server says of itself.
func perTarget() []string { return []string{metrics.LabelTarget} }

func speculationPanels(s scope) []panel { return []panel{acceptance(s), drafted(s)} }

func acceptance(s scope) panel {
	return panel{
		view:  graph{max: 1},
		title: "Acceptance of speculative decoding",
		about: about{
			"Drafted tokens that were accepted over drafted tokens, of all the deployment's clients, as its own metrics say.",
			"It is known where the target has server_metrics and speculates. A curve named average is of a server that shows only its own average. A gap is unknown, not 0: nothing was drafted, or nothing was read.",
			"A fall makes tokens slower and batches smaller: see what changed, the drafter or the traffic. Near 0, decoding without a drafter is faster.",
		},
		unit:  units.PercentUnit,
		width: 12, height: 8,
		empty: "no target has server_metrics, or none speculates",
		queries: []query{
			{expr: s.share(perTarget(), metrics.ServerAccepted, metrics.ServerDrafted), legend: "{{target}}"},
			{expr: aggregate("avg", perTarget(), s.series(metrics.ServerAcceptance)), legend: "{{target}} average"},
		},
	}
}

func drafted(s scope) panel {
	seen := func(metric string) string {
		return aggregate("max", perTarget(), over("rate", s.series(metric), rateWindow))
	}
	return panel{
		view:  graph{},
		title: "Drafted tokens per second",
		about: about{
			"Tokens that the deployment's drafter proposed per second, and those of them that were accepted, as its own metrics count them.",
			"It grows with the traffic of all clients. The space between the two curves is work that was thrown away.",
			"When the drafted tokens stop while answers go on, speculative decoding was switched off; when only the accepted ones fall, see the acceptance.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		empty: "no target has server_metrics, or none counts its drafts",
		queries: []query{
			{expr: seen(metrics.ServerDrafted), legend: "{{target}} drafted"},
			{expr: seen(metrics.ServerAccepted), legend: "{{target}} accepted"},
		},
	}
}

// serverMetrics says whether the servers' own metrics can be read.
func serverMetrics(s scope) panel {
	return panel{
		view: big{texts: words(map[string]word{
			"1": {"read", green}, "0": {"not read", red},
		})},
		title: "Metrics of the servers",
		about: about{
			"Whether all pages of a target's own metrics could be read last time, for each target that has server_metrics, by the prober that fares worst.",
			"Read is green. A target without server_metrics is not listed.",
			"When it is red, the prober's log names the page and what is wrong. What is known of speculative decoding is incomplete until then.",
		},
		unit:  units.NoUnit,
		width: 12, height: 6,
		levels: []level{{color: red}, {1, green}},
		empty:  "no target has server_metrics",
		queries: []query{{
			expr:   aggregate("min", perTarget(), s.series(metrics.ServerMetricsUp)),
			legend: "{{target}}", instant: true,
		}},
	}
}
