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

// number renders a figure, and a dash for NaN.
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

// digitsOf returns how many decimal places a load has: rates have two.
func digitsOf(load float64) int {
	if load < 10 {
		return 2
	}
	return 0
}

// apart renders the error of the model: in points for shares, in percent for other figures.
func apart(name string, want, got float64) string {
	if strings.HasSuffix(name, "_pct") {
		if math.IsNaN(want) {
			return "n/a"
		}
		return fmt.Sprintf("%+.1f", math.Round((got-want)*10)/10+0)
	}
	return percent(got/want - 1)
}

// seriesCSV has all figures of every series, from the report and from the model.
func seriesCSV(runs []played) string {
	var b strings.Builder
	b.WriteString("plan,preset,load,figure,reported,model,lowest,highest,off\n")
	for _, p := range runs {
		for i, l := range p.Levels {
			for _, f := range figures() {
				want, got := l.get(f.name), p.model[i].get(f.name)
				if !has(p.Levels, f.name) {
					continue
				}
				low, high := p.spread(i, f.name)
				fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s,%s,%s\n", p.plan, p.Preset, number(l["load"], digitsOf(l["load"])), f.title,
					number(want, f.digits), number(got, f.digits), number(low, f.digits), number(high, f.digits), apart(f.name, want, got))
			}
		}
	}
	return b.String()
}
