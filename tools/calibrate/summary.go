package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/tools/measured"
)

// summary renders the table of all levels.
func summary(runs []played) string {
	head, aims := []string{"series", "load"}, []string{}
	for _, t := range targets() {
		head = append(head, t.title)
		aims = append(aims, fmt.Sprintf("%s %.0f %s", t.title, 100*t.aim, unit(t.name)))
	}
	t := table{head}
	met, all := 0, 0
	for _, p := range runs {
		for _, c := range cells(p) {
			series, load := fmt.Sprintf("`%s`, %s", p.Preset, p.plan), number(c.load, digitsOf(c.load))
			if last := t[len(t)-1]; last[0] != series || last[1] != load {
				t = append(t, append([]string{series, load}, make([]string, len(head)-2)...))
			}
			t[len(t)-1][slices.Index(head, c.title)] = c.String()
			all++
			if c.met() {
				met++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Each cell: mean of %d seeds / published figure (error). **Bold** misses its aim. `phase0` leaves out seeds with more than %d %% errors, as its report leaves out runs. Aims: %s; KV-aware TTFT p95 at 170 to 180 within a factor of %g. ",
		seeds, mostErrors, strings.Join(aims, ", "), tailFactor)
	fmt.Fprintf(&b, "%d of %d cells reach their aim.\n\n%s\n", met, all, t)
	return b.String()
}

// unit returns the unit of a figure's error.
func unit(name string) string {
	if strings.HasSuffix(name, "_pct") {
		return "points"
	}
	return "%"
}

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
