package study

import (
	"fmt"
	"math"
	"strconv"
)

// Text is a value with its unit, as it is printed: "236ms", "58.5s", "16.3%".
// Halves are rounded to even, as the programs that wrote such reports do.
func (m Metric) Text(v float64) string {
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 1):
		return "∞"
	case m.Unit == "ms" && v >= 10_000:
		return strconv.FormatFloat(v/1000, 'f', 1, 64) + "s"
	}
	return strconv.FormatFloat(v, 'f', m.Decimals, 64) + m.Unit
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

// bare is an end of the interval in the unit that its value is printed in.
func (m Metric) bare(v, beside float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 1):
		return "∞"
	case m.Unit == "ms" && beside >= 10_000:
		return strconv.FormatFloat(v/1000, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', m.Decimals, 64)
}
