package figures

import (
	"fmt"
	"math"
	"strconv"
)

// long is the time in ms from which seconds read better.
const long = 10_000

// Text is a value with its unit, as it is printed: "236ms", "58.5s", "16.3%".
// Halves are rounded to even, as the programs that wrote such reports do.
func (m Metric) Text(v float64) string {
	text := m.bare(v, v)
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 0):
		return text
	case m.Unit == "ms" && v >= long:
		return text + "s"
	}
	return text + m.Unit
}

// Cell is a figure as it stands in a table: with its interval where there is
// one, and with what is missing where it cannot be told.
func (m Metric) Cell(f Figure) string {
	if f.Needed > f.N {
		return fmt.Sprintf("n/a (%d of %d turns)", f.N, f.Needed)
	}
	if f.Step > 0 {
		m.Decimals = min(m.Decimals, max(0, int(math.Round(-math.Log10(f.Step)))))
	}
	text := m.Text(f.Value)
	low, high := m.bare(f.Low, f.Value), m.bare(f.High, f.Value)
	switch {
	case f.Uncertain() && low == high:
		text += " (?)"
	case (f.Ranged() || f.Uncertain()) && low != high:
		text += fmt.Sprintf(" (%s–%s)", low, high)
	}
	return text
}

// bare is a value in the unit and with the digits in which another one, beside
// which it stands, is printed.
func (m Metric) bare(v, beside float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 1):
		return "∞"
	case m.Unit == "ms" && beside >= long:
		return strconv.FormatFloat(v/1000, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', m.digits(beside), 64)
}

// digits after the point: more for times so short that they would vanish.
func (m Metric) digits(v float64) int {
	switch {
	case m.Unit != "ms" || v == 0 || v >= 10:
		return m.Decimals
	case v >= 1:
		return max(m.Decimals, 1)
	}
	return max(m.Decimals, 2)
}
