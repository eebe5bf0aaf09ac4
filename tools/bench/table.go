//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
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

var row = regexp.MustCompile(`(?m)^\| ([^|]*) \| ([^|]+) \| [^|]* \| ([0-9.]+) \(`)

// committed returns the ratios of the table in a file, by scenario and client.
func committed(file string) (map[string]map[string]float64, error) {
	page, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out, last := map[string]map[string]float64{}, ""
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		if name := strings.TrimSpace(m[1]); name != "" {
			last = name
			out[last] = map[string]float64{}
		}
		if out[last] == nil {
			return nil, fmt.Errorf("%s: a row of %q has no scenario", file, m[2])
		}
		if out[last][m[2]], err = strconv.ParseFloat(m[3], 64); err != nil {
			return nil, fmt.Errorf("%s: the ratio of %q: %w", file, m[2], err)
		}
	}
	return out, nil
}

// worse lists the clients whose median ratio exceeds the committed one by more than a share, and those without a
// committed ratio.
func worse(r results, want map[string]map[string]float64, all []scenario, kinds []client, share float64) (out []string) {
	for _, s := range all {
		for _, c := range kinds[1:] {
			runs, limit := r[s.name][c.name], want[s.name][c.name]
			if len(runs) == 0 {
				continue
			}
			if limit == 0 {
				out = append(out, fmt.Sprintf("the table has no ratio of %s at %s to compare with; write it with make bench", c.name, s.name))
				continue
			}
			if got, _, _ := measured.Range(ratios(r[s.name][kinds[0].name], runs)); got > (1+share)*limit {
				out = append(out, fmt.Sprintf("%s at %s costs %.2f times plain net/http; the committed ratio is %.2f", c.name, s.name, got, limit))
			}
		}
	}
	return out
}
