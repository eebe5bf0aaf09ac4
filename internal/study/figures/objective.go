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
	// Key is the quantile that says the same ("ttft_p99_ms"), and Threshold its
	// highest good value in ms; Key is "" for objectives that no quantile says.
	Key       string
	Threshold float64
	// Share of good turns that is wanted, in percent.
	Share float64
}

// String is the objective in words: "TTFT p99 < 1000ms".
func (o Objective) String() string {
	if o.Threshold == 0 {
		return fmt.Sprintf("%s ≥ %g%%", o.Label, o.Share)
	}
	return fmt.Sprintf("%s p%g < %gms", o.Label, o.Share, o.Threshold)
}

// JudgeBy replaces the objectives. What was decided by the former ones goes with
// them: the capacities that the sweep proved, the objectives that it called
// missed, and goodput, which counts the turns that met them. A level that it gave
// up stays given up: it was not measured to its end.
func (s *Study) JudgeBy(objectives []Objective) {
	s.Objectives, s.Capacities = objectives, nil
	for _, series := range s.Series {
		for i := range series.Levels {
			series.Levels[i].Lost = nil
			delete(series.Levels[i].Figures, "goodput_per_s")
		}
	}
}

func objectiveOf(o runfile.Objective) Objective {
	timing, label := string(o.SLI), strings.ToUpper(strings.ReplaceAll(string(o.SLI), "_", " "))
	if o.SLI == slo.TurnDuration {
		timing, label = "latency", "LATENCY"
	}
	part := ""
	if len(o.Turns) == 1 {
		part = o.Turns[0]
		label += " " + part
	}
	out := Objective{Name: o.Name, Label: label, Threshold: o.ThresholdSeconds * 1000, Share: o.Objective * 100}
	if o.SLI != slo.Availability && o.SLI != slo.ITL {
		out.Key = TimingKey(timing, part, o.Objective)
	}
	return out
}
