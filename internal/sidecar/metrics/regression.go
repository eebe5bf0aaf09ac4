package metrics

import (
	"math"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// gatherRegression adds the baselines of one kind of turn, and how its turns compare with
// them.
func gatherRegression(e *exposition, l labels, r *baseline.Reading, k int) {
	for i, signal := range sink.Signals() {
		v, l := &r.Views[k][i], l.with(LabelSignal, string(signal))
		e.addAll(l,
			value{SignalTurns, v.Turns}, value{SignalLog2, v.Log2}, value{SignalBaselineLog2, v.BaselineLog2},
			value{Baseline, orNaN(v.Baseline)}, value{BaselineYoung, boolValue(v.Young)}, value{BaselineTurns, v.Samples},
			value{BaselineNoise, orNaN(v.Noise)},
			value{PageScore, v.Page}, value{TicketScore, v.Ticket}, value{RegressionRatio, orNaN(v.Ratio)},
			value{RegressionSince, unixSeconds(v.Since)}, value{ExpectedFalsePages, orNaN(v.Expected)}, value{Detectable, orNaN(v.Detectable[1])},
			value{RegressionHistory, v.History.Seconds()}, value{BaselineMoved, unixSeconds(v.Moved)})
	}
	for i, part := range baseline.Parts() {
		excess := probe.Opt[float64]{V: r.Excess[k].V[i], OK: r.Excess[k].OK}
		e.add(Excess, l.with(LabelPart, string(part)), orNaN(excess))
	}
	e.add(CachedBaseline, l, orNaN(r.CachedBaseline[k]))
	line := r.Views[k][0].Line // of the TTFT, the first of sink.Signals
	e.addAll(l, value{ttftPer1k, orNaN(probe.Opt[float64]{V: 1000 * line.V.PerToken, OK: line.OK})},
		value{ttftBase, orNaN(probe.Opt[float64]{V: line.V.Base, OK: line.OK})})
}

// orNaN returns the value for an exposition, in which NaN means unknown.
func orNaN(v probe.Opt[float64]) float64 {
	if !v.OK {
		return math.NaN()
	}
	return v.V
}
