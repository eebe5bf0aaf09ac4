package dashboard

import (
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
	"synthetic/internal/slo"
)

// latency describes a latency that is shown as quantiles.
type latency struct {
	metric string
	// short names it in titles, "TTFT".
	short string
	// sli is the SLI whose thresholds are drawn.
	sli slo.SLI
	// panel has the description.
	panel panel
	// signal is that of the benchmark that is drawn; "" where there is none.
	signal regression.Signal
}

// quantiles lists what is drawn of each distribution.
func quantiles() []float64 { return []float64{0.5, 0.95, 0.99} }

// pair is the two panels of a latency: first turns and follow-ups, which are
// never mixed.
func (l latency) pair(s scope, objectives []slo.Objective) []panel {
	var out []panel
	for _, kind := range probe.TurnKinds() {
		out = append(out, l.of(s, objectives, kind))
	}
	return out
}

func (l latency) of(s scope, objectives []slo.Objective, kind probe.TurnKind) panel {
	p := l.panel
	p.title, p.unit, p.links = l.short+", "+turnName(kind), units.Seconds, toTarget()
	for _, q := range quantiles() {
		p.queries = append(p.queries, query{
			expr:      s.quantile(q, perJob(), l.metric, turnIs(kind)),
			legend:    jobLegend + " " + metrics.Statistic(q),
			exemplars: q == 0.99,
		})
	}
	if l.signal != "" {
		p.queries = append(p.queries, query{
			expr: s.gauge(append(perJob(), metrics.LabelStatistic), metrics.Expected,
				turnIs(kind), equal(metrics.LabelSignal, string(l.signal)), oneOf(metrics.LabelStatistic, shownStatistics())),
			legend: expectedPrefix + jobLegend + " {{" + metrics.LabelStatistic + "}}",
		})
	}
	if names := covering(objectives, l.sli, kind); len(names) > 0 {
		p.queries = append(p.queries, query{
			expr:   s.gauge([]string{metrics.LabelSLO}, metrics.SLOThreshold, oneOf(metrics.LabelSLO, names)),
			legend: limitPrefix + "{{slo}}",
		})
	}
	return p
}

// shownStatistics are those of a benchmark that stand beside the quantiles.
func shownStatistics() []string {
	var out []string
	for _, q := range quantiles() {
		out = append(out, metrics.Statistic(q))
	}
	return out
}

// jobLegend names a series by its target and workload.
const jobLegend = "{{target}} {{workload}}"

func turnName(k probe.TurnKind) string {
	if k == probe.First {
		return "first turns"
	}
	return "follow-up turns"
}

// covering names the objectives on an SLI that apply to such turns.
func covering(objectives []slo.Objective, sli slo.SLI, kind probe.TurnKind) []string {
	var names []string
	for _, o := range objectives {
		if o.SLI == sli && (len(o.Turns) == 0 || slices.Contains(o.Turns, kind)) {
			names = append(names, o.Name)
		}
	}
	return names
}

// latencies lists every latency of a turn, the one that users notice first
// first.
func latencies() []latency {
	return []latency{
		ttft(),
		{metric: metrics.AnswerTTFT, short: "Answer TTFT", sli: slo.AnswerTTFT, panel: panel{
			says: "Time from sending a turn to the first piece of the answer itself; of reasoning models that is later than the TTFT.",
			read: "The distance to the TTFT is the time spent thinking. The two are equal for models that do not reason.",
			act:  "When only this one rises, the model thinks longer: look at its version, its template and the reasoning effort.",
		}},
		{metric: metrics.TPOT, short: "TPOT", sli: slo.TPOT, signal: regression.TPOT, panel: panel{
			says: "Time per output token of each turn, after its first token.",
			read: "It is the pace of reading: 0.05 s is 20 tokens a second. It grows with the engine's batch, not with the prompt. Dashed lines in purple are what a benchmark measured, where the configuration names one.",
			act:  "Compare with the load on the deployment. A step up at the same load points to the engine: a lost drafter, a smaller batch, a slower GPU.",
		}},
		{metric: metrics.ITL, short: "ITL", sli: slo.ITL, panel: panel{
			says: "Gaps between consecutive events that carry tokens, over all gaps of all turns.",
			read: "A p50 near the TPOT with a high p99 is a stuttering stream. With speculative decoding one event carries several tokens, so it exceeds the TPOT.",
			act:  "A high p99 alone points to prefills that interrupt decoding, or to a proxy that buffers: see the share of coalesced events in the prober health.",
		}},
		{metric: metrics.TurnDuration, short: "Turn duration", sli: slo.TurnDuration, panel: panel{
			says: "Time from sending a turn to the end of its stream, of successful turns.",
			read: "It follows TTFT + TPOT × output tokens, so a longer answer takes longer without being worse.",
			act:  "When it rises and neither TTFT nor TPOT does, the answers have become longer: see the output tokens.",
		}},
	}
}

func ttft() latency {
	return latency{metric: metrics.TTFT, short: "TTFT", sli: slo.TTFT, signal: regression.TTFT, panel: panel{
		says: "Time from sending a turn to its first token, with DNS, connect and TLS, within each target and workload.",
		read: "The dashed line in red is the SLO's threshold; those in purple are what a benchmark measured, where the configuration names one. Quantiles are interpolated within buckets, the objectives above judge each turn exactly. A gap means that no turn got a token in the window, not that it took no time. Turns that never got one are missing here and count as failures.",
		act:  "When first turns rise and follow-ups do not, look at prefill and queueing; when follow-ups rise alone, look at the prefix cache and the routing. The phases in the target detail show whether the network is to blame.",
	}}
}
