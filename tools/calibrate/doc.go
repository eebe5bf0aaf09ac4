package main

import (
	"fmt"
	"os"
	"path/filepath"

	"synthetic/tools/splice"
)

// The files that this command writes, relative to the root of the repository.
const (
	page        = "docs/background/simulation.md"
	figuresFile = "tools/calibrate/testdata/figures.csv"
)

// tool is the name of this command in the markers of the page.
const tool = "calibrate"

// pageParts renders the generated sections of the page.
func pageParts(runs []played) []splice.Part {
	return []splice.Part{{Name: "parameters", Text: parameters()}, {Name: "summary", Text: summary(runs)}}
}

// write updates both files under root.
func write(root string, runs []played) error {
	if err := os.WriteFile(filepath.Join(root, figuresFile), []byte(seriesCSV(runs)), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return splice.File(filepath.Join(root, page), tool, pageParts(runs))
}
