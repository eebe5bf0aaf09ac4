package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// summary renders the table of all levels.
func summary(runs []played) string {
	head, aims := []string{"series", "load"}, []string{}
	for _, t := range targets() {
		head = append(head, title(t.name))
		aims = append(aims, fmt.Sprintf("%s %.0f %s", title(t.name), 100*t.aim, unit(t.name)))
	}
	t := table{head}
	met, all := 0, 0
	for _, p := range runs {
		for _, c := range cells(p) {
			series, load := fmt.Sprintf("`%s`, %s", p.Preset, p.plan), number(c.load, digitsOf(c.load))
			if last := t[len(t)-1]; last[0] != series || last[1] != load {
				t = append(t, append([]string{series, load}, make([]string, len(head)-2)...))
			}
			t[len(t)-1][slices.Index(head, title(c.name))] = c.String()
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
	for _, preset := range []string{"bench-phase0", "bench-eagle3"} {
		p := find(runs, "bench", preset)
		fmt.Fprintf(&b, "- Highest rate within the SLOs, `%s`: %.2f, published %.2f.\n", preset, bestRate(p.model, p.Levels), bestRate(p.Levels, p.Levels))
	}
	for _, preset := range []string{"phase0", "eagle3"} {
		b.WriteString(summaries(find(runs, preset, preset)))
	}
	return b.String()
}

// summaries compares the TTFT p95 of a series, measured as its report did, from the first level with a queue on.
func summaries(p played) string {
	var parts []string
	all, own, n := 0.0, 0.0, 0.0
	for i, l := range p.Levels {
		if want, got := l["ttft_p95_ms"], p.model[i][summaryP95]; p.model[i]["ttft_p95_ms"] > 1000 {
			parts = append(parts, fmt.Sprintf("%s / %s at %v", number(got, 0), number(want, 0), l["load"]))
			all, own, n = all+math.Abs(p.model[i]["ttft_p95_ms"]/want-1), own+math.Abs(got/want-1), n+1
		}
	}
	return fmt.Sprintf("- `%s`, TTFT p95 (ms) as the report measured it: %s. The mean error is %.0f %%, and %.0f %% of the TTFT p95 in the table.\n",
		p.Preset, strings.Join(parts, ", "), 100*own/n, 100*all/n)
}

// unit returns the unit of a figure's error.
func unit(name string) string {
	if strings.HasSuffix(name, "_pct") {
		return "points"
	}
	return "%"
}

// title returns the title of a figure.
func title(name string) string {
	all := figures()
	return all[slices.IndexFunc(all, func(f figure) bool { return f.name == name })].title
}
