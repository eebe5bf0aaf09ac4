package main

import (
	"fmt"
	"math"
	"strings"
)

// table is a Markdown table: its rows, the first of them the head.
type table [][]string

// String renders it.
func (t table) String() string {
	var b strings.Builder
	for i, row := range t {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---:|", len(row)) + "\n")
		}
	}
	return b.String()
}

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

// compared is the table of the figures with one of the prefixes, report beside
// model; "" if the report has none of them.
func compared(reported, model []level, prefixes ...string) string {
	var use []figure
	for _, f := range figures() {
		for _, p := range prefixes {
			if strings.HasPrefix(f.name, p) && has(reported, f.name) {
				use = append(use, f)
			}
		}
	}
	if len(use) == 0 {
		return ""
	}
	t := table{{"load"}}
	for _, f := range use {
		t[0] = append(t[0], f.title, "model", "off")
	}
	for i, r := range reported {
		row := []string{number(r["load"], digitsOf(r["load"]))}
		known := false
		for _, f := range use {
			want, got := r.get(f.name), model[i].get(f.name)
			known = known || !math.IsNaN(want)
			row = append(row, number(want, f.digits), number(got, f.digits), apart(f.name, want, got))
		}
		if known {
			t = append(t, row)
		}
	}
	return t.String() + "\n"
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
