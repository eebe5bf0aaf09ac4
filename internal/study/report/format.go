package report

import (
	"fmt"
	"math"
	"strconv"

	"synthetic/internal/slo"
)

const secondsFromMillis = 10_000

// Text returns a value with its unit as printed: "236ms", "58.5s", "16.3%".
func (m Metric) Text(v float64) string { return m.describe().text(v) }

func (d description) text(v float64) string {
	text := d.number(v, v)
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 0):
		return text
	case d.inSeconds(v):
		return text + "s"
	}
	return text + d.unit
}

// mark returns markLargest if no turn lies beyond a quantile, which then is the largest value.
func (m Metric) mark(f Figure) mark {
	if q := m.quantile(); f.N > 0 && float64(f.N)*(1-q) < 1 {
		return markLargest
	}
	return noMark
}

// Range returns a figure with its 95 % interval: "236ms (221–247)". A "?" is an unknown end.
func (m Metric) Range(f Figure) string {
	d := m.describe()
	low, high := d.number(f.Low, f.Value), d.number(f.High, f.Value)
	if d.right && !math.IsNaN(f.High) {
		high = strconv.FormatFloat(f.High, 'f', d.decimals, 64) // an upper end below 100 % may be printed as 100 %
	}
	if low == high || !f.Ranged() && !f.Uncertain() {
		return m.Text(f.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", m.Text(f.Value), low, high)
}

// OfAnswers reports whether the metric counts answers by their reference codes.
func (m Metric) OfAnswers() bool { return m.describe().right || m == ForeignAnswers }

// number formats v in the unit and with the digits of the value that it stands beside.
func (d description) number(v, beside float64) string {
	decimals := d.decimals
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 1):
		return "∞"
	case d.inSeconds(beside):
		v, decimals = v/1000, 1
	case d.right && v < 100:
		v = RoundRight(v)
	case d.unit == "ms" && beside >= 10:
		decimals = 0
	case d.unit != "ms" || beside == 0:
	case beside >= 1: // short times need more digits
		decimals = 1
	default:
		decimals = 2
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// inSeconds reports whether a value is printed in seconds: the duration of a turn from 10 s on.
func (d description) inSeconds(v float64) bool {
	return v >= secondsFromMillis && d.metric.Timing == slo.TurnDuration
}

// RoundRight rounds a percentage of right answers as it is printed: to a tenth, but below 100 if it is below 100.
func RoundRight(v float64) float64 {
	if v >= 100 {
		return v
	}
	return min(math.Round(10*v)/10, 99.9)
}

// Digits formats a measured number with at most three significant digits and at most the given decimals.
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
