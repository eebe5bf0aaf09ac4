package figures

import (
	"fmt"
	"math"
	"strconv"
)

// long is the time in ms from which seconds read better.
const secondsFromMillis = 10_000

// Text is a value with its unit, as it is printed: "236ms", "58.5s", "16.3%".
// Halves are rounded to even, as the programs that wrote such reports do.
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

// Cell is a figure as it stands in a table: with its interval where there is
// one, and with how many turns it takes where there are too few.
func (m Metric) Cell(f Figure) string {
	d := m.describe()
	if f.Needed > f.N {
		return fmt.Sprintf("%s (%d of %d turns)", d.text(f.Value), f.N, f.Needed)
	}
	if f.Step > 0 {
		d.decimals = min(d.decimals, max(0, int(math.Round(-math.Log10(f.Step)))))
	}
	text := d.text(f.Value)
	low, high := d.number(f.Low, f.Value), d.number(f.High, f.Value)
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
func (d description) number(v, beside float64) string {
	switch {
	case math.IsNaN(v):
		return "?"
	case math.IsInf(v, 1):
		return "∞"
	case d.unit == "ms" && beside >= secondsFromMillis:
		return strconv.FormatFloat(v/1000, 'f', 1, 64)
	}
	decimals := d.decimals
	switch { // times so short that they would vanish have more
	case d.unit != "ms" || beside == 0 || beside >= 10:
	case beside >= 1:
		decimals = max(decimals, 1)
	default:
		decimals = max(decimals, 2)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
