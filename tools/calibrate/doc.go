package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"synthetic/tools/splice"
)

// section is a generated part of docs/background/simulation.md or, for how well
// the model fits, of simulation-fit.md beside it.
type section struct {
	name   string
	fit    bool
	render func([]played) string
}

func sections() []section {
	return []section{
		{"parameters", false, func([]played) string { return parameters() }},
		{"summary", true, summary},
		{"near full", true, nearFull},
		{"drafting", true, drafting},
		{"routing", true, routing},
		{"SLO matrix", true, sloMatrix},
	}
}

// tool is how the document names this command.
const tool = "calibrate"

// parts renders the sections of either document.
func parts(fit bool, runs []played) []splice.Part {
	var out []splice.Part
	for _, s := range sections() {
		if s.fit == fit {
			out = append(out, splice.Part{Name: s.name, Text: s.render(runs)})
		}
	}
	return out
}

// beside names a file that lies beside a document.
func beside(doc, suffix string) string { return strings.TrimSuffix(doc, filepath.Ext(doc)) + suffix }

// write brings a document, its fit and the figures beside it up to date.
func write(doc string, runs []played) error {
	if err := os.WriteFile(beside(doc, ".csv"), []byte(seriesCSV(runs)), 0o644); err != nil {
		return fmt.Errorf("writing the figures: %w", err)
	}
	return errors.Join(splice.File(doc, tool, parts(false, runs)), splice.File(beside(doc, "-fit.md"), tool, parts(true, runs)))
}
