package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/markdown"
	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

// Outcome is what one condition found in one series.
type Outcome struct {
	Condition
	Series string
	// Failed says that the condition is true; Unknown that the report lacks
	// the figure, which fails too: a gate that saw nothing must not open.
	Failed, Unknown bool
	// Noise says that the interval of the figure holds both outcomes.
	Noise bool
	// Detail is the figure that decided, in words.
	Detail string
}

// Check applies the conditions to every series but a baseline: with several
// series the first is the baseline and is not judged; one alone is judged by
// itself.
func Check(s *figures.Study, conditions []Condition) []Outcome {
	comply := analysis.Comply(s)
	compares := len(s.Series) > 1
	var all []Outcome
	for i, series := range s.Series {
		if i == 0 && compares {
			continue
		}
		for _, c := range conditions {
			o := Outcome{Condition: c, Series: series.Name}
			if c.Metric == figures.NoMetric {
				o.capacity(comply[i], comply[0], compares)
			} else {
				o.levels(s, series)
			}
			all = append(all, o)
		}
	}
	return all
}

func (o *Outcome) unknown(format string, args ...any) {
	o.Failed, o.Unknown, o.Detail = true, true, fmt.Sprintf(format, args...)
}

func (o *Outcome) capacity(own, base analysis.Compliance, compares bool) {
	switch {
	case !own.Judged:
		o.unknown("the SLOs could not be judged")
	case o.Baseline && (!compares || !base.Judged):
		o.unknown("there is no baseline to compare with")
	case o.Baseline && base.Proven.Missed == nil && own.Proven.Missed != nil && *own.Proven.Missed > base.Highest:
		// As where its sweep was stopped: it may scale to any level.
		o.unknown("capacity %g, and the baseline was not measured up to a level that it fails at (it meets %g)", own.Highest, base.Highest)
	default:
		limit := o.Value
		if o.Baseline {
			limit *= base.Highest
		}
		o.Failed = holds(own.Highest, o.Op, limit)
		o.Detail = fmt.Sprintf("capacity %g, limit %g", own.Highest, limit)
	}
}

// levels looks for the level that is furthest on the wrong side, among all or
// at the one that the condition names.
func (o *Outcome) levels(s *figures.Study, series figures.Series) {
	worst := math.Inf(-1)
	var unseen []float64
	for _, l := range series.Levels {
		if o.At > 0 && l.At != o.At {
			continue
		}
		f := l.Figure(o.Metric)
		limit, ok := o.limit(s, l.At)
		if !ok || !f.Known() || l.NotReached != "" {
			unseen = append(unseen, l.At)
			continue
		}
		excess := f.Value - limit
		if o.Op[0] == '<' {
			excess = -excess
		}
		if excess <= worst && o.Detail != "" {
			continue
		}
		worst = excess
		o.Failed = holds(f.Value, o.Op, limit)
		o.Noise = f.Ranged() && f.Low <= limit && limit <= f.High
		o.Detail = fmt.Sprintf("%s at %s %g, limit %s", o.Metric.Cell(f), s.LevelName(), l.At, o.Metric.Text(limit))
	}
	switch {
	case o.Detail == "" && o.Baseline:
		o.unknown("no level has the figure in both configurations")
	case o.Detail == "":
		o.unknown("no level has the figure")
	case unseen != nil:
		o.Detail += fmt.Sprintf("; not known at %s", runfile.FormatLevels(unseen, ", "))
	}
}

func (o *Outcome) limit(s *figures.Study, at float64) (float64, bool) {
	if !o.Baseline {
		return o.Value, true
	}
	base, ok := s.Series[0].Reached().Level(at)
	v := base.Value(o.Metric)
	return v * o.Value, ok && len(s.Series) > 1 && !math.IsNaN(v)
}

func holds(v float64, op string, limit float64) bool {
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

// Failed reports whether any outcome closes the gate.
func Failed(all []Outcome) bool {
	return slices.ContainsFunc(all, func(o Outcome) bool { return o.Failed })
}

// Markdown is a short summary for a pull request.
func Markdown(s *figures.Study, all []Outcome) string {
	var b strings.Builder
	verdict := "passed"
	if Failed(all) {
		verdict = "**failed**"
	}
	fmt.Fprintf(&b, "### Performance gate %s\n\n%s\n\n", verdict, markdown.Text(s.Title))
	fmt.Fprintf(&b, "| | Fails if | Configuration | Found |\n| :---: | :--- | :--- | :--- |\n")
	for _, o := range all {
		mark := "✅"
		if o.Failed {
			mark = "❌"
		}
		detail := o.Detail
		if o.Noise {
			detail += " (within noise)"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", mark, o.Text, markdown.Cell(o.Series), markdown.Cell(detail))
	}
	if n := len(analysis.Warnings(s)); n > 0 {
		fmt.Fprintf(&b, "\nWarnings in the report: %d.\n", n)
	}
	return b.String()
}
