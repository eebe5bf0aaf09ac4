package main

import (
	"fmt"
	"math"
	"strings"

	"synthetic/tools/splice"
)

// table is a Markdown table: its rows, the first of them the head.
type table [][]string

// String renders it.
func (t table) String() string { return splice.Table("---:", t...) }

// number renders a figure; NaN is unknown.
func number(v float64, digits int) string {
	if math.IsNaN(v) {
		return "n/a"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// percent renders a share as a signed percentage.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "n/a"
	}
	// Adding 0 turns a negative zero into a positive one.
	return fmt.Sprintf("%+.0f %%", math.Round(v*100)+0)
}

// has reports whether any level has a figure.
func has(levels []level, name string) bool {
	for _, l := range levels {
		if !math.IsNaN(l.get(name)) {
			return true
		}
	}
	return false
}

// digitsOf is how many digits a load has after its point: rates have two.
func digitsOf(load float64) int {
	if load < 10 {
		return 2
	}
	return 0
}

// apart is how far the model is off: in points for shares, else in percent.
func apart(name string, want, got float64) string {
	if strings.HasSuffix(name, "_pct") {
		if math.IsNaN(want) {
			return "n/a"
		}
		return fmt.Sprintf("%+.1f", math.Round((got-want)*10)/10+0)
	}
	return percent(got/want - 1)
}
