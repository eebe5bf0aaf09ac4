package figures

import (
	"fmt"
	"math"
	"strings"

	"synthetic/internal/chart"

	"synthetic/internal/study/runfile"
)

// Result is what a condition, or a gate, comes to. A higher one weighs more.
type GateResult int

// The results.
const (
	// Pass: what was measured shows that the condition is not true.
	GatePassed GateResult = iota
	// Inconclusive: neither that it is true nor that it is not, for want of turns, or
	// of a level that was reached and that the prober itself did not distort.
	GateInconclusive
	// Fail: it is true, beyond noise.
	GateFailed
)

// Outcome is what one condition found in one series.
type ConditionOutcome struct {
	Condition
	Series string
	Result GateResult
	// Detail is the figure that decided, in words, or why nothing did.
	Detail string
}

// Check applies the conditions to every series but a baseline: with several
// series the first is the baseline and is not judged; one alone is judged by
// itself.
func CheckConditions(s *Study, conditions []Condition) []ConditionOutcome {
	comply := Comply(s)
	compares := len(s.Series) > 1
	var all []ConditionOutcome
	for i, series := range s.Series {
		if i == 0 && compares {
			continue
		}
		for _, c := range conditions {
			o := ConditionOutcome{Condition: c, Series: series.Name}
			if c.Metric == NoMetric {
				o.checkCapacity(comply[i], comply[0], compares)
			} else {
				o.checkLevels(s, series)
			}
			all = append(all, o)
		}
	}
	return all
}

func (o *ConditionOutcome) setInconclusive(format string, args ...any) {
	o.Result, o.Detail = GateInconclusive, fmt.Sprintf(format, args...)
}

func (o *ConditionOutcome) checkCapacity(own, base Compliance, compares bool) {
	least, most := o.Value, o.Value
	switch {
	case !own.Judged:
		o.setInconclusive("the SLOs could not be judged at any level")
		return
	case o.Baseline && (!compares || !base.Judged):
		o.setInconclusive("there is no baseline to compare with")
		return
	case o.Baseline && base.Proven.Missed == nil && own.Proven.Missed != nil && *own.Proven.Missed > base.Highest:
		// As where its sweep was stopped: it may scale to any level.
		o.setInconclusive("capacity %g, and the baseline was not measured up to a level that it fails at (it meets %g)", own.Highest, base.Highest)
		return
	case o.Baseline && math.IsInf(base.Most, 1): // as far as both were measured
		least, most = least*base.Least, most*base.Highest
	case o.Baseline:
		least, most = least*base.Least, most*base.Most
	}
	o.Result = o.compareRanges(own.Least, own.Most, least, most)
	o.Detail = fmt.Sprintf("capacity %s, limit %s", formatRange(own.Least, own.Most), formatRange(least, most))
}

// span is "40", or "40 to 80" of what is not known closer, or "40 or more".
func formatRange(least, most float64) string {
	switch {
	case math.IsInf(most, 1):
		return fmt.Sprintf("%g or more", least)
	case least < most:
		return fmt.Sprintf("%g to %g", least, most)
	}
	return fmt.Sprintf("%g", most)
}

// between compares a value that lies between low and high with a limit that lies
// between least and most: what holds of the one end and not of the other is
// inconclusive.
func (o *ConditionOutcome) compareRanges(low, high, least, most float64) GateResult {
	if o.Op[0] == '<' {
		low, high, least, most = high, low, most, least
	}
	switch { // now low is what speaks for the condition least
	case satisfies(low, o.Op, most):
		return GateFailed
	case satisfies(high, o.Op, least):
		return GateInconclusive
	}
	return GatePassed
}

// levels judges all levels, or the one that the condition names. One that fails
// decides; one of which nothing may be concluded lets nothing pass. The figure that
// is shown is the one furthest on the wrong side.
func (o *ConditionOutcome) checkLevels(s *Study, series Series) {
	worst := math.Inf(-1)
	var unseen []float64
	var why, shown string
	for _, l := range series.Levels {
		if o.At > 0 && l.At != o.At {
			continue
		}
		base, _ := s.Series[0].Level(l.At)
		f, limit, reason := o.comparands(base, l)
		if reason != "" {
			if unseen = append(unseen, l.At); why == "" {
				why = reason
			}
			continue
		}
		r := o.compare(base.Figure(o.Metric), f, limit)
		excess := f.Value - limit
		if o.Op[0] == '<' {
			excess = -excess
		}
		if r < o.Result || r == o.Result && excess <= worst && shown != "" {
			continue
		}
		o.Result, worst = r, excess
		shown = fmt.Sprintf("%s at %s %g, limit %s", o.Metric.Cell(f), s.LevelName(), l.At, o.Metric.Text(limit))
		if r == GateInconclusive {
			shown += ", which is within noise: measure longer, or repeat"
		}
	}
	o.finish(shown, unseen, why)
	if o.Result == GatePassed && o.At == 0 && s.Interrupted != "" {
		o.setInconclusive("%s; the sweep did not come to its end, so levels may be missing: %s", o.Detail, s.Interrupted)
	}
}

// figures are those that are compared, or why they may not be.
func (o *ConditionOutcome) comparands(base, l Level) (f Figure, limit float64, why string) {
	if f = l.Figure(o.Metric); !f.Known() {
		return f, 0, "the figure is not known, or of too few turns"
	}
	if why := Unsound(l); why != "" {
		return f, 0, why
	}
	if !o.Baseline {
		return f, o.Value, ""
	}
	if why := Unsound(base); why != "" {
		return f, 0, "the baseline: " + why
	}
	if !base.Figure(o.Metric).Known() {
		return f, 0, "the baseline does not have the figure"
	}
	return f, o.Value * base.Value(o.Metric), ""
}

// against compares a figure with the limit, by intervals where there are some. Of
// a ratio to 0, as of errors that nobody had, there is none.
func (o *ConditionOutcome) compare(base, f Figure, limit float64) GateResult {
	low, high := RatioInterval(base, f)
	switch {
	case f.Uncertain() || o.Baseline && base.Uncertain():
		return GateInconclusive
	case o.Baseline && !math.IsNaN(low):
		return o.compareRanges(low, high, o.Value, o.Value)
	case !o.Baseline && f.Ranged():
		return o.compareRanges(f.Low, f.High, limit, limit)
	}
	return o.compareRanges(f.Value, f.Value, limit, limit)
}

// conclude adds the levels that were not seen.
func (o *ConditionOutcome) finish(shown string, unseen []float64, why string) {
	o.Detail = shown
	switch {
	case unseen == nil && shown == "":
		o.setInconclusive("no such level was measured")
	case unseen == nil || o.Result == GateFailed:
	default:
		o.Result = max(o.Result, GateInconclusive)
		if shown != "" {
			o.Detail += "; "
		}
		o.Detail += fmt.Sprintf("nothing is concluded at %s: %s", runfile.FormatLevels(unseen, ", "), why)
	}
}

func satisfies(v float64, op string, limit float64) bool {
	switch op {
	case ">":
		return v > limit
	case ">=":
		return v >= limit
	case "<":
		return v < limit
	}
	return v <= limit
}

// Gate is what all outcomes come to: the gravest of them. Without any nothing was
// shown.
func CombineOutcomes(all []ConditionOutcome) GateResult {
	if len(all) == 0 {
		return GateInconclusive
	}
	gravest := GatePassed
	for _, o := range all {
		gravest = max(gravest, o.Result)
	}
	return gravest
}

// Markdown is a short summary for a pull request.
func GateMarkdown(s *Study, all []ConditionOutcome) string {
	var b strings.Builder
	verdict := []string{"passed", "**inconclusive**", "**failed**"}[CombineOutcomes(all)]
	fmt.Fprintf(&b, "### Performance gate %s\n\n%s\n\n", verdict, chart.MarkdownText(s.Title))
	fmt.Fprintf(&b, "| | Fails if | Configuration | Found |\n| :---: | :--- | :--- | :--- |\n")
	for _, o := range all {
		mark := []string{"✅", "❔", "❌"}[o.Result]
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", mark, o.Text, chart.MarkdownCell(o.Series), chart.MarkdownCell(o.Detail))
	}
	if groups := Group(Warnings(s)); len(groups) > 0 {
		fmt.Fprintf(&b, "\nWarnings in the report: %d.\n", len(groups))
	}
	return b.String()
}
