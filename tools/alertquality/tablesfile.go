package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"synthetic/tools/alertquality/engine"
)

// section is a section of tables.md.
type section struct {
	title string
	// dir is the directory with the scores of one campaign.
	dir  string
	text func(engine.Report) string
}

func sections() []section {
	return []section{
		{"Bounds", "worlds", boundsTable}, {"Worlds", "worlds", worldsTable},
		{"Descriptions", "worlds", descriptions},
	}
}

// writeTables writes tables.md, which sums up the scores of the campaigns under dir.
func writeTables(dir string) error {
	var text strings.Builder
	for _, s := range sections() {
		report, err := readScores(filepath.Join(dir, s.dir, "scores.json"))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "## %s\n\n%s\n\n", s.title, strings.TrimSpace(s.text(report)))
	}
	return writeFile(dir, "tables.md", []byte(text.String()))
}

func readScores(name string) (engine.Report, error) {
	var r engine.Report
	text, err := os.ReadFile(name)
	if err != nil {
		return r, fmt.Errorf("reading the scores: %w; make alert-quality writes them", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading the scores in %s: %w", name, err)
	}
	return r, nil
}

func writeFile(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
