package figures

import (
	"fmt"
	"strings"

	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
)

// Objective is an SLO as a report judges by it.
type Objective struct {
	Name string
	// Label stands in the compliance matrix ("TTFT").
	Label string
	// Timing has the quantile that says the same, over Turns, and Threshold is
	// its highest good value in ms; NoTiming for objectives that no quantile
	// says.
	Timing    Timing
	Turns     Turns
	Threshold float64
	// Share of good turns that is wanted, in percent: the quantile's percentile.
	Share float64
}

// String is the objective in words: "TTFT p99 < 1000ms".
func (o Objective) String() string {
	if o.Threshold == 0 {
		return fmt.Sprintf("%s ≥ %g%%", o.Label, o.Share)
	}
	return fmt.Sprintf("%s p%g < %gms", o.Label, o.Share, o.Threshold)
}

// Metric is the quantile that says the same, which reports need not have;
// NoMetric without one.
func (o Objective) Metric() Metric {
	if o.Timing == NoTiming {
		return NoMetric
	}
	return o.Timing.percentile(o.Turns, o.Share)
}

// JudgeBy replaces the objectives. What was decided by the former ones goes with
// them: the capacities that the sweep proved, the verdicts on its levels, and
// goodput, which counts the turns that met them. A level that it gave up stays
// given up: it was not measured to its end.
func (s *Study) JudgeBy(objectives []Objective) {
	s.Objectives, s.Capacities = objectives, nil
	for _, series := range s.Series {
		for i := range series.Levels {
			series.Levels[i].Verdict = nil
			delete(series.Levels[i].Figures, GoodputPerSecond)
		}
	}
}

func objectiveOf(o runfile.Objective) Objective {
	out := Objective{
		Name: o.Name, Label: strings.ToUpper(strings.ReplaceAll(string(o.SLI), "_", " ")),
		Threshold: o.ThresholdSeconds * 1000, Share: o.Objective * 100,
	}
	switch o.SLI { // that of ITL is of the longest gap of a turn, where reports are of all gaps
	case slo.TTFT, slo.AnswerTTFT, slo.TPOT:
		out.Timing = Timing(o.SLI)
	case slo.TurnDuration:
		out.Timing, out.Label = Latency, "LATENCY"
	}
	if len(o.Turns) == 1 {
		out.Label += " " + string(o.Turns[0])
		out.Turns = Turns(o.Turns[0])
	}
	return out
}
