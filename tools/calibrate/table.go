package main

import (
	"fmt"
	"math"
	"strings"

	"synthetic/tools/measured"
)

// table is a Markdown table. The first row is the header.
type table [][]string

func (t table) String() string { return measured.Table("---:", t...) }

// number renders a figure.
func number(v float64, digits int) string { return fmt.Sprintf("%.*f", digits, v) }

// digitsOf returns how many decimal places a load has: rates have two.
func digitsOf(load float64) int {
	if load < 10 {
		return 2
	}
	return 0
}

// apart renders the error of the model: in points for shares, in percent for other figures.
func apart(name string, want, got float64) string {
	// Adding 0 turns a negative zero into a positive one.
	if strings.HasSuffix(name, "_pct") {
		return fmt.Sprintf("%+.1f", math.Round((got-want)*10)/10+0)
	}
	return fmt.Sprintf("%+.0f %%", math.Round(100*(got/want-1))+0)
}
