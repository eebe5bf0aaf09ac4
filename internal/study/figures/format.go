package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const secondsFromMillis = 10_000

// Text returns a value with its unit as printed: "236ms", "58.5s", "16.3%". Halves are rounded
// to even, as in the reports of other programs.
func (m Metric) Text(v float64) string { return m.describe().text(v) }

func (d description) text(v float64) string {
	text := d.number(v, v)
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 0):
		return text
	case d.unit == "ms" && v >= secondsFromMillis:
		return text + "s"
	}
	return text + d.unit
}

// Cell returns a figure for a table: with its interval if known, or "(?)" if that is unknown
// or wider than the value. A quantile with too few turns is "–".
func (m Metric) Cell(f Figure) string {
	d := m.describe()
	if f.Needed > f.N {
		return "–"
	}
	if f.Step > 0 {
		d.decimals = min(d.decimals, max(0, int(math.Round(-math.Log10(f.Step)))))
	}
	text := d.text(f.Value)
	low, high := d.number(f.Low, f.Value), d.number(f.High, f.Value)
	if m.isCorrect() && !math.IsNaN(f.High) {
		high = Digits(f.High, d.decimals) // an upper end below 100 % may be printed as 100 %
	}
	switch {
	case f.Uncertain() && low == high, !m.isShareOfTurns() && f.wide():
		text += " (?)"
	case (f.Ranged() || f.Uncertain()) && low != high:
		text += fmt.Sprintf(" (%s–%s)", low, high)
	}
	return text
}

// isShareOfTurns reports whether the metric is a share of few turns, whose wide interval still bounds it.
func (m Metric) isShareOfTurns() bool { return m == ErrorPct || m.isCorrect() }

// OfAnswers reports whether the metric counts answers by their reference codes.
func (m Metric) OfAnswers() bool { return m.isCorrect() || m == ForeignAnswers }

func (m Metric) isCorrect() bool { return strings.HasPrefix(string(m), "correct_") }

// number formats v in the unit and with the digits of reference, the value it stands beside.
func (d description) number(v, beside float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 1):
		return "∞"
	case d.unit == "ms" && beside >= secondsFromMillis:
		return Digits(v/1000, 1)
	case d.metric == Completed, d.metric == Failed, d.metric == InFlightMax, d.metric == ForeignAnswers: // counts are exact
		return strconv.FormatFloat(v, 'f', 0, 64)
	case d.metric.isCorrect() && v < 100:
		return strconv.FormatFloat(RoundRight(v), 'f', 1, 64)
	}
	decimals := d.decimals
	switch { // short times need more digits
	case d.unit != "ms" || beside == 0 || beside >= 10:
	case beside >= 1:
		decimals = max(decimals, 1)
	default:
		decimals = max(decimals, 2)
	}
	return Digits(v, decimals)
}

// RoundRight rounds a percentage of right answers as it is printed: to a tenth, but below 100 if it is below 100.
func RoundRight(v float64) float64 {
	if v >= 100 {
		return v
	}
	return min(math.Round(10*v)/10, 99.9)
}

// Digits formats a measured number with at most three significant digits and at most the given
// decimals.
func Digits(v float64, decimals int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	switch size := math.Abs(rounded); {
	case size >= 1000:
		return strconv.FormatFloat(rounded, 'f', 0, 64)
	case size >= 100:
		decimals = 0
	case size >= 10:
		decimals = min(decimals, 1)
	case size >= 1:
		decimals = min(decimals, 2)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
