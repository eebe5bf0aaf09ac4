package main

import (
	"path/filepath"

	"synthetic/tools/measured"
)

// page is the file that this command writes, relative to the root of the repository.
const page = "docs/background/simulation.md"

// summaryPart marks the generated part of the page.
const summaryPart = "calibrate summary"

// write updates the page under root.
func write(root string, runs []played) error {
	return measured.Replace(filepath.Join(root, page), summaryPart, summary(runs))
}
