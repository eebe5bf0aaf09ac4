package metrics

import (
	"math"
	"strconv"
	"time"

	"synthetic/internal/sidecar/baseline"
	"synthetic/internal/sidecar/sink"
)

// gatherRegression adds the baselines of one kind of turn, and how its turns compare with
// them.
func gatherRegression(e *exposition, l labels, r *baseline.Reading, k int) {
	for i, signal := range sink.Signals() {
		v, of := &r.Views[k][i], l.with(LabelSignal, string(signal))
		e.addAll(of,
			value{SignalTurns, v.Turns}, value{SignalLog2, v.Log2}, value{signalLog2Squared, v.Log2Squared},
			value{SignalBaselineLog2, v.BaselineLog2}, value{signalTail, v.Tail}, value{tailLimit, v.TailSeconds},
			value{Baseline, v.Baseline}, value{BaselineYoung, truth(v.Young)}, value{BaselineTurns, v.Samples},
			value{BaselineNoise, v.Noise},
			value{PageScore, v.Page}, value{TicketScore, v.Ticket}, value{RegressionRatio, v.Ratio},
			value{RegressionSince, unixSeconds(v.Since)}, value{ExpectedFalsePages, v.Expected},
			value{RegressionHistory, v.History.Seconds()}, value{BaselineMoved, unixSeconds(v.Moved)})
		for n, size := range baseline.Sizes() {
			e.part(RegressionDelay, of, LabelRatio, strconv.FormatFloat(size, 'f', -1, 64), delaySeconds(v.Delay[n]))
		}
		for w, within := range []string{"15m", "1h"} {
			e.part(Detectable, of, labelWithin, within, v.Detectable[w])
		}
	}
	for i, part := range baseline.Parts() {
		e.part(Excess, l, LabelPart, string(part), r.Excess[k][i])
	}
	e.add(CachedBaseline, l, r.CachedBaseline[k])
}

// delaySeconds returns +Inf for Never and NaN for an unknown delay.
func delaySeconds(d time.Duration) float64 {
	switch d {
	case baseline.Never:
		return math.Inf(1)
	case 0:
		return math.NaN()
	}
	return d.Seconds()
}
