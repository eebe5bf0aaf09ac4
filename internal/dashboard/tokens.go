package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
)

func tokenPanels(s scope) []panel {
	return []panel{
		{
			view:  graphView{max: 1},
			title: "Cached share of prompt tokens", unit: units.PercentUnit,
			says: "Prompt tokens served from the prefix cache over prompt tokens, of the turns whose usage said how many were cached.",
			read: "Follow-ups should be high, as their history was just computed; first turns are as high as their openings are shared. A gap is unknown, not 0: the server does not say.",
			act:  "A fall on follow-ups means lost affinity in the routing or a cache that evicts: expect their TTFT to rise with it.",
			queries: []query{{
				expr:   s.share(perTurn(), metrics.CachedPromptTokens, metrics.CacheKnownPrompt),
				legend: jobLegend + " {{turn}}",
			}},
		},
		{
			title: "Output tokens per second", unit: units.Short,
			says:    "Output tokens of all turns per second of wall time, as the probes receive them.",
			read:    "It is the probes' own throughput, not the deployment's capacity. Turns count when they end, so it moves in steps.",
			act:     "At constant traffic it changes with the length of the answers: compare with the turns ended.",
			queries: []query{{expr: s.rate(perJob(), metrics.OutputTokens), legend: jobLegend}},
		},
		{
			title: "Prompt tokens per second", unit: units.Short,
			says:    "Prompt tokens of all turns per second of wall time, as the server's usage counts them.",
			read:    "Each turn sends its whole history again, so follow-ups weigh most. With the output tokens it is what the probes cost.",
			act:     "When the cost is too high, lower the rate of conversations or set a budget of tokens per minute.",
			queries: []query{{expr: s.rate(perJob(), metrics.PromptTokens), legend: jobLegend}},
		},
		{
			title: "Output tokens per turn", unit: units.Short,
			says: "Mean number of output tokens of the turns ended in the window, failed turns included.",
			read: "The turn duration grows with it. A sudden fall with no failures is a model that answers differently.",
			act:  "When it changed, compare turn durations before and after only with this in mind; look for a new model, template or limit.",
			queries: []query{{
				expr:   s.share(perTurn(), metrics.OutputTokens, metrics.Turns),
				legend: jobLegend + " {{turn}}",
			}},
		},
	}
}

// perTarget are the labels of what a server says of itself.
func perTarget() []string { return []string{metrics.LabelTarget} }

func speculationPanels(s scope) []panel {
	seen := func(metric string) string {
		return aggregate("max", perTarget(), over("rate", s.series(metric), rateWindow))
	}
	return []panel{
		{
			view:  graphView{max: 1},
			title: "Acceptance of speculative decoding", unit: units.PercentUnit,
			says:  "Drafted tokens that were accepted over drafted tokens, of all the deployment's clients, as its own metrics say.",
			read:  "It is known where the target has server_metrics and speculates. A curve named average is of a server that shows only its own average. A gap is unknown, not 0: nothing was drafted, or nothing was read.",
			act:   "A fall makes tokens slower and batches smaller: see what changed, the drafter or the traffic. Near 0, decoding without a drafter is faster.",
			empty: "no target has server_metrics, or none speculates",
			queries: []query{
				{expr: s.share(perTarget(), metrics.ServerAccepted, metrics.ServerDrafted), legend: "{{target}}"},
				{expr: aggregate("avg", perTarget(), s.series(metrics.ServerAcceptance)), legend: "{{target}} average"},
			},
		},
		{
			title: "Drafted tokens per second", unit: units.Short,
			says:  "Tokens that the deployment's drafter proposed per second, and those of them that were accepted, as its own metrics count them.",
			read:  "It grows with the traffic of all clients. The space between the two curves is work that was thrown away.",
			act:   "When the drafted tokens stop while answers go on, speculative decoding was switched off; when only the accepted ones fall, see the acceptance.",
			empty: "no target has server_metrics, or none counts its drafts",
			queries: []query{
				{expr: seen(metrics.ServerDrafted), legend: "{{target}} drafted"},
				{expr: seen(metrics.ServerAccepted), legend: "{{target}} accepted"},
			},
		},
	}
}
