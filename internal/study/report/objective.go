package report

import (
	"fmt"
	"strings"

	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// Objective is an SLO as reports judge it.
type Objective struct {
	Name  string `json:"name"`
	Label string `json:"label"` // the name in the compliance matrix, such as "TTFT"
	// Timing, Turns and Share name the equivalent quantile, and Threshold is its highest good value in ms. Timing is
	// NoTiming if no quantile is equivalent, as for an objective that depends on uncached tokens.
	Timing    Timing  `json:"timing,omitempty"`
	Turns     Turns   `json:"turns,omitempty"`
	Threshold float64 `json:"threshold_ms"`
	// Slope is the text of the time that uncached tokens add to the threshold; "" without one.
	Slope string  `json:"slope,omitempty"`
	Share float64 `json:"objective_pct"` // the wanted share of good turns in percent, which is the percentile
}

// String returns the objective in words: "TTFT p99 < 1000ms".
func (o Objective) String() string {
	if o.Threshold == 0 {
		return fmt.Sprintf("%s ≥ %g%%", o.Label, o.Share)
	}
	return fmt.Sprintf("%s p%g < %gms%s", o.Label, o.Share, o.Threshold, o.Slope)
}

// Metric returns the equivalent quantile, which a report may lack, or NoMetric.
func (o Objective) Metric() Metric {
	if o.Timing == NoTiming {
		return NoMetric
	}
	return o.Timing.percentile(o.Turns, o.Share)
}

func objectiveOf(o runs.Objective) Objective {
	out := Objective{
		Name: o.Name, Label: strings.ToUpper(strings.ReplaceAll(string(o.SLI), "_", " ")),
		Threshold: o.ThresholdSeconds * 1000, Share: o.Objective * 100,
	}
	switch o.SLI { // the SLI of ITL judges the longest gap of a turn, while reports hold all gaps
	case slo.TTFT, slo.AnswerTTFT, slo.TPOT:
		out.Timing = Timing(o.SLI)
	case slo.TurnDuration:
		out.Timing, out.Label = Latency, "LATENCY"
	}
	if len(o.Turns) == 1 {
		out.Label += " " + string(o.Turns[0])
		out.Turns = Turns(o.Turns[0])
	}
	if judging := o.Judging(); judging.Sized() {
		out.Timing, out.Slope = NoTiming, judging.SlopeText()
		out.Label += strings.TrimSuffix(judging.ClassText(), " tokens")
	}
	return out
}
