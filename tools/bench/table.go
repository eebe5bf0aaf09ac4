//go:build linux

package main

import (
	"fmt"
	"strings"

	"synthetic/tools/measured"
)

// results are the runs of each client in each scenario.
type results map[string]map[string][]cost

func (r results) add(s scenario, c client, x cost) {
	if r[s.name] == nil {
		r[s.name] = map[string][]cost{}
	}
	r[s.name][c.name] = append(r[s.name][c.name], x)
}

// ratios returns the cost of each run of a client divided by the cost of the plain client in the same round.
func ratios(plain, runs []cost) (out []float64) {
	for i := range runs {
		out = append(out, runs[i].PerToken/plain[i].PerToken)
	}
	return out
}

// columns is the head of the table.
const columns = `| scenario | client | CPU µs/token | times plain | lateness p50 µs | p99 µs | kB/stream |
|---|---|---|---|---|---|---|
`

// table returns the Markdown table of the results: medians, with the range in brackets.
func table(r results, all []scenario, kinds []client) string {
	var b strings.Builder
	b.WriteString(columns)
	for _, s := range all {
		for i, c := range kinds {
			runs, name := r[s.name][c.name], s.name
			if len(runs) == 0 {
				continue
			}
			if i > 0 {
				name = ""
			}
			late50, late99, memory := "", "", ""
			if runs[0].P50 > 0 {
				late50 = figure(runs, func(c cost) float64 { return c.P50 }, 1)
				late99 = figure(runs, func(c cost) float64 { return c.P99 }, 0)
			}
			if runs[0].Memory > 0 {
				memory = figure(runs, func(c cost) float64 { return c.Memory }, 0)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", name, c.name, figure(runs, func(c cost) float64 { return c.PerToken }, 2),
				spread(ratios(r[s.name][kinds[0].name], runs), 2), late50, late99, memory)
		}
	}
	return b.String()
}

func figure(runs []cost, of func(cost) float64, digits int) string {
	values := make([]float64, len(runs))
	for i, c := range runs {
		values[i] = of(c)
	}
	return spread(values, digits)
}

func spread(values []float64, digits int) string {
	middle, least, greatest := measured.Range(values)
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, middle, digits, least, digits, greatest)
}

// mostAllocations is how many objects a token may allocate in memory: none, and a turn few.
const mostAllocations = 0.1

// missed lists the clients whose median ratio exceeds their goal, and those that allocate for each token.
func (r results) missed(kinds []client) (out []string) {
	for _, c := range kinds[1:] {
		for name, goal := range map[string]float64{inMemory.name: inMemory.goal, judged: c.goal} {
			runs := r[name][c.name]
			if len(runs) == 0 {
				continue
			}
			if got, _, _ := measured.Range(ratios(r[name][kinds[0].name], runs)); got > goal {
				out = append(out, fmt.Sprintf("%s at %s costs %.2f times plain net/http; the goal is %.2f", c.name, name, got, goal))
			}
			if got := runs[0].Allocations; got > mostAllocations {
				out = append(out, fmt.Sprintf("%s at %s allocates %.2f objects per token; the goal is 0", c.name, name, got))
			}
		}
	}
	return out
}
