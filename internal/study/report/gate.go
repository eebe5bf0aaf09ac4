package report

import (
	"fmt"
	"math"
	"strings"

	"synthetic/internal/chart"
	"synthetic/internal/study/runs"
)

// GateResult is the result of a condition or of the whole gate. Higher values are more severe.
type GateResult int

const (
	// gatePassed: the measurement shows that the condition is false.
	gatePassed GateResult = iota
	// GateInconclusive: the condition is neither shown to be true nor false. Too few turns, a
	// level that was not reached or a limit of the prober can be the cause.
	GateInconclusive
	// GateFailed: the condition is true beyond noise.
	GateFailed
)

// conditionOutcome is the result of one condition for one series.
type conditionOutcome struct {
	Condition
	Series string
	Result GateResult
	Detail string // the figure that decided, or why none did
}

// CheckGate returns the most severe result of the conditions, and a summary in Markdown for a
// pull request. It is inconclusive without a series to check.
func CheckGate(s *Study, conditions []Condition) (result GateResult, summary string) {
	all := checkConditions(s, conditions)
	if len(all) == 0 {
		result = GateInconclusive
	}
	for _, o := range all {
		result = max(result, o.Result)
	}
	return result, gateMarkdown(s, all, result)
}

// checkConditions applies the conditions to every series except the baseline. The first of
// several series is the baseline; a single series is checked by itself.
func checkConditions(s *Study, conditions []Condition) []conditionOutcome {
	compares := s.compares()
	var all []conditionOutcome
	for i, series := range s.Series {
		if i == 0 && compares {
			continue
		}
		for _, c := range conditions {
			o := conditionOutcome{Condition: c, Series: series.Name}
			if c.Metric == NoMetric {
				o.checkCapacity(s.LevelKind(), capacityOf(s, series, true), capacityOf(s, s.Series[0], true), compares)
			} else {
				o.checkLevels(s, series)
			}
			all = append(all, o)
		}
	}
	return all
}

func (o *conditionOutcome) setInconclusive(format string, args ...any) {
	o.Result, o.Detail = GateInconclusive, fmt.Sprintf(format, args...)
}

// checkCapacity compares the bounds of a capacity with the limit, or with the bounds of the baseline's.
func (o *conditionOutcome) checkCapacity(kind runs.LevelKind, own, base capacity, compares bool) {
	least, most, limit := o.Value, o.Value, kind.At(o.Value)
	switch {
	case !own.Judged():
		o.setInconclusive("the SLOs could not be judged at any level")
		return
	case o.Baseline && (!compares || !base.Judged()):
		o.setInconclusive("there is no baseline to compare with")
		return
	case o.Baseline && base.Fails == nil && own.Fails != nil && own.Fails.At > base.Most():
		// Such a baseline may scale to any level. Its sweep may have been stopped, for example.
		o.setInconclusive("capacity: %s. The baseline fails at no measured level: %s", own.Sentence(kind), base.Sentence(kind))
		return
	case o.Baseline:
		least, most, limit = least*base.Least(), most*base.Most(), fmt.Sprintf("%g × the baseline's capacity, which is %s", o.Value, base.Sentence(kind))
	}
	high := own.Most()
	if own.Fails == nil {
		high = math.Inf(1)
	}
	o.Result = o.compareRanges(own.Least(), high, least, most)
	o.Detail = fmt.Sprintf("capacity: %s. Limit: %s", own.Sentence(kind), limit)
}

// compareRanges compares a value between low and high with a limit between least and most. The
// result is inconclusive if it depends on where in these ranges they lie.
func (o *conditionOutcome) compareRanges(low, high, least, most float64) GateResult {
	if o.Op[0] == '<' {
		low, high, least, most = high, low, most, least
	}
	switch { // low is now the end of the value's range that contradicts the condition most
	case satisfies(low, o.Op, most):
		return GateFailed
	case satisfies(high, o.Op, least):
		return GateInconclusive
	}
	return gatePassed
}

// checkLevels checks all levels, or the level that the condition names. One failed level fails the condition, and a
// level without a conclusion prevents a pass. The detail shows the figure that is furthest on the wrong side.
func (o *conditionOutcome) checkLevels(s *Study, series Series) {
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
		shown = fmt.Sprintf("%s at %s, limit %s", o.Metric.Range(f), s.At(l.At), o.Metric.Text(limit))
		if r == GateInconclusive {
			shown += ", which is within noise: measure longer, or repeat"
		}
	}
	o.finish(s, shown, unseen, why)
	if o.Result == gatePassed && o.At == 0 && s.Interrupted != "" {
		o.setInconclusive("%s; the sweep did not finish, so levels may be missing: %s", o.Detail, s.Interrupted)
	}
}

// comparands returns the figure and its limit, or the reason why they must not be compared.
func (o *conditionOutcome) comparands(base, l Level) (f Figure, limit float64, why string) {
	if f = l.Figure(o.Metric); !f.Known() {
		return f, 0, "the figure has too few turns, or is unknown"
	}
	if why := unsound(l); why != "" {
		return f, 0, why
	}
	if !o.Baseline {
		return f, o.Value, ""
	}
	if why := unsound(base); why != "" {
		return f, 0, "the baseline: " + why
	}
	if !base.Figure(o.Metric).Known() {
		return f, 0, "the baseline does not have the figure"
	}
	return f, o.Value * base.Value(o.Metric), ""
}

// compare compares a figure with the limit, by intervals where both are known. A ratio to a
// baseline of 0 has no interval.
func (o *conditionOutcome) compare(base, f Figure, limit float64) GateResult {
	low, high := ratioInterval(base, f)
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

// finish sets the detail, and mentions the levels without a conclusion.
func (o *conditionOutcome) finish(s *Study, shown string, unseen []float64, why string) {
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
		o.Detail += fmt.Sprintf("nothing is concluded at %s: %s", s.At(unseen...), why)
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

func gateMarkdown(s *Study, all []conditionOutcome, result GateResult) string {
	var b strings.Builder
	verdict := []string{"passed", "**inconclusive**", "**failed**"}[result]
	fmt.Fprintf(&b, "### Performance gate %s\n\n%s\n\n", verdict, chart.MarkdownText(s.Title))
	fmt.Fprintf(&b, "| | Fails if | Configuration | Found |\n| :---: | :--- | :--- | :--- |\n")
	for _, o := range all {
		mark := []string{"✅", "❔", "❌"}[o.Result]
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", mark, o.Text, chart.MarkdownCell(o.Series), chart.MarkdownCell(o.Detail))
	}
	if n := len(defects(s)); n > 0 {
		fmt.Fprintf(&b, "\nDefects of the measurement, named in the report: %d.\n", n)
	}
	return b.String()
}
