package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"synthetic/tools/measured"
)

// The files that this command writes, relative to the root of the repository.
const (
	page        = "docs/background/simulation.md"
	figuresFile = "tools/calibrate/testdata/figures.csv"
)

// The generated parts of the page, by their marks.
const parametersPart, summaryPart = "calibrate parameters", "calibrate summary"

// write updates both files under root.
func write(root string, runs []played) error {
	if err := os.WriteFile(filepath.Join(root, figuresFile), []byte(seriesCSV(runs)), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	name := filepath.Join(root, page)
	return errors.Join(measured.Replace(name, parametersPart, parameters()), measured.Replace(name, summaryPart, summary(runs)))
}
