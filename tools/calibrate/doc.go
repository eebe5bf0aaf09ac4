package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"synthetic/tools/splice"
)

// The files that this command writes, relative to the root of the repository.
const (
	page        = "docs/background/simulation.md"
	fitFile     = "tools/calibrate/testdata/fit.md"
	figuresFile = "tools/calibrate/testdata/figures.csv"
)

// tool is the name of this command in the markers of the page.
const tool = "calibrate"

// pageParts renders the generated sections of the page.
func pageParts(runs []played) []splice.Part {
	return []splice.Part{{Name: "parameters", Text: parameters()}, {Name: "summary", Text: summary(runs)}}
}

// fit renders the comparisons that the page leaves out.
func fit(runs []played) string {
	var b strings.Builder
	b.WriteString("# The simulated deployments and the reports, compared\n")
	for _, s := range []struct{ title, text string }{
		{"Near full batches", nearFull(runs)},
		{"With and without a drafter", drafting(runs)},
		{"KV-aware and round-robin routing", routing(runs)},
		{"SLO matrix of the open loop: TTFT p99 < 1,000 ms and TPOT p99 < 60 ms", sloMatrix(runs)},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.title, strings.TrimSpace(s.text))
	}
	return b.String()
}

// write updates the three files under root.
func write(root string, runs []played) error {
	for name, text := range map[string]string{fitFile: fit(runs), figuresFile: seriesCSV(runs)} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing the comparison: %w", err)
		}
	}
	return splice.File(filepath.Join(root, page), tool, pageParts(runs))
}
