package dashboard

import (
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
)

func tokenPanels(s scope) []panel {
	return []panel{cachedShare(s), outputTokens(s), promptTokens(s), answerLength(s)}
}

func cachedShare(s scope) panel {
	return panel{
		view:  graph{max: 1},
		title: "Cached share of prompt tokens",
		about: about{
			"Prompt tokens served from the prefix cache over prompt tokens, of the turns whose usage said how many were cached.",
			"Follow-ups should be high, as their history was just computed; first turns are as high as their openings are shared. A gap is unknown, not 0: the server does not say.",
			"A fall on follow-ups means lost affinity in the routing or a cache that evicts: expect their TTFT to rise with it.",
		},
		unit:  units.PercentUnit,
		width: 12, height: 8,
		queries: []query{{
			expr:   s.share(perTurn(), metrics.CachedPromptTokens, metrics.CacheKnownPrompt),
			legend: jobLegend + " {{turn}}",
		}},
	}
}

func outputTokens(s scope) panel {
	return panel{
		view:  graph{},
		title: "Output tokens per second",
		about: about{
			"Output tokens of all turns per second of wall time, as the probes receive them.",
			"It is the probes' own throughput, not the deployment's capacity. Turns count when they end, so it moves in steps.",
			"At constant traffic it changes with the length of the answers: compare with the turns ended.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{{expr: s.rate(perJob(), metrics.OutputTokens), legend: jobLegend}},
	}
}

func promptTokens(s scope) panel {
	return panel{
		view:  graph{},
		title: "Prompt tokens per second",
		about: about{
			"Prompt tokens of all turns per second of wall time, as the server's usage counts them.",
			"Each turn sends its whole history again, so follow-ups weigh most. With the output tokens it is what the probes cost.",
			"When the cost is too high, lower the rate of conversations or set a budget of tokens per minute.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{{expr: s.rate(perJob(), metrics.PromptTokens), legend: jobLegend}},
	}
}

func answerLength(s scope) panel {
	return panel{
		view:  graph{},
		title: "Output tokens per turn",
		about: about{
			"Mean number of output tokens of the turns ended in the window, failed turns included.",
			"The turn duration grows with it. A sudden fall with no failures is a model that answers differently.",
			"When it changed, compare turn durations before and after only with this in mind; look for a new model, template or limit.",
		},
		unit:  units.Short,
		width: 12, height: 8,
		queries: []query{{
			expr:   s.share(perTurn(), metrics.OutputTokens, metrics.Turns),
			legend: jobLegend + " {{turn}}",
		}},
	}
}
