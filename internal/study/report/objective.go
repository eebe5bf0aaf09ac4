package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// labelOf returns the name of an objective in the compliance matrix, such as "TTFT".
func labelOf(o slo.Objective) string {
	label := strings.ToUpper(strings.ReplaceAll(timingKey(o.SLI), "_", " "))
	if o.Kind() != "" {
		label += " " + string(o.Kind())
	}
	return label + strings.TrimSuffix(o.ClassText(), " tokens")
}

// labels returns a function from the name of an objective to its label.
func labels(objectives []slo.Objective) func(name string) string {
	return func(name string) string {
		i := slices.IndexFunc(objectives, func(o slo.Objective) bool { return o.Name == name })
		if i < 0 {
			return name
		}
		return labelOf(objectives[i])
	}
}

// wordsOf returns an objective in words: "TTFT p99 < 1000ms".
func wordsOf(o slo.Objective) string { return strings.Join(targetOf(o), " ") }

// targetOf returns what an objective limits, and the limit: "TTFT p99", "< 1000ms".
func targetOf(o slo.Objective) []string {
	if o.Threshold == 0 {
		return []string{labelOf(o), fmt.Sprintf("≥ %g%%", percent(o))}
	}
	return []string{fmt.Sprintf("%s p%g", labelOf(o), percent(o)), fmt.Sprintf("< %gms%s", millis(o.Threshold), o.SlopeText())}
}

// percent returns the wanted share of good turns, which is the percentile.
func percent(o slo.Objective) float64 { return math.Round(1e8*o.Objective) / 1e6 }

func millis(d time.Duration) float64 { return 1000 * d.Seconds() }

// metricOf returns the quantile that is equivalent to an objective, which a report may lack. There is none for shares
// of turns, if the limit depends on uncached tokens, and for ITL: its objective judges the longest gap of a turn, while
// reports hold all gaps.
func metricOf(o slo.Objective) Metric {
	if !slices.Contains(timings(), o.SLI) || o.SLI == slo.ITL || o.Sized() {
		return NoMetric
	}
	return percentile(o.SLI, Turns(o.Kind()), percent(o))
}

// objectiveData is an objective in the data of a report.
type objectiveData struct {
	Key    string `json:"key"` // of the equivalent quantile
	Name   string `json:"name"`
	Label  string `json:"label"`
	Timing string `json:"timing,omitempty"` // of the equivalent quantile
	Turns  Turns  `json:"turns,omitempty"`

	ThresholdMs  float64 `json:"threshold_ms"`
	Slope        string  `json:"slope,omitempty"`
	ObjectivePct float64 `json:"objective_pct"`
	// SLO is the whole objective, unless a quantile is equivalent.
	SLO *slo.Objective `json:"slo,omitempty"`
}

func dataOf(o slo.Objective) objectiveData {
	m := metricOf(o)
	d := objectiveData{
		Key: m.Key(), Name: o.Name, Label: labelOf(o), Timing: timingKey(m.Timing), Turns: Turns(o.Kind()),
		ThresholdMs: millis(o.Threshold), Slope: o.SlopeText(), ObjectivePct: percent(o),
	}
	if m == NoMetric {
		d.SLO = &o
	}
	return d
}

func (d objectiveData) objective() (slo.Objective, error) {
	if d.SLO != nil {
		return *d.SLO, nil
	}
	o := slo.Objective{Name: d.Name, Threshold: slo.FromSeconds(d.ThresholdMs / 1000), Objective: math.Round(1e8*d.ObjectivePct) / 1e10}
	if d.Turns != AllTurns {
		o.Turns = []probe.TurnKind{probe.TurnKind(d.Turns)}
	}
	i := slices.IndexFunc(timings(), func(t slo.SLI) bool { return timingKey(t) == d.Timing })
	if i < 0 || !percentile(timings()[i], d.Turns, 99).Reported() {
		return o, fmt.Errorf("slos: %q has the timing %q of %q turns, which no report has", d.Name, d.Timing, d.Turns)
	}
	o.SLI = timings()[i]
	return o, nil
}
