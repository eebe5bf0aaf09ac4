// Command alertpage brings docs/background/alert-quality.md up to date: it renders
// the scores that "synthetic backtest --output.dir" left beside it, and what was
// promised next to what came out. It also writes each scores.md anew.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"synthetic/internal/backtest"
	"synthetic/tools/splice"
)

// tool is how the document names this command.
const tool = "make alert-quality"

func main() {
	doc := flag.String("doc", "docs/background/alert-quality.md", "the document, a Markdown `file`; the scores lie in the directory of its name")
	flag.Parse()
	if err := rewrite(*doc); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

// rewrite splices the tables of every campaign into the document.
func rewrite(doc string) error {
	dir := strings.TrimSuffix(doc, filepath.Ext(doc))
	var parts []splice.Part
	for _, campaign := range []string{"main", "few", "moving"} {
		r, err := read(filepath.Join(dir, campaign, "scores.json"))
		if err != nil {
			return err
		}
		var bounds, tables strings.Builder
		if err := r.WriteMarkdown(&tables); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, campaign, "scores.md"), []byte(tables.String()), 0o644); err != nil {
			return fmt.Errorf("writing the tables: %w", err)
		}
		if campaign == "main" {
			if err := r.WritePromised(&bounds); err != nil {
				return err
			}
			parts = append(parts, splice.Part{Name: "promised", Text: bounds.String()}, splice.Part{Name: "comparison", Text: comparison(r)})
		}
		parts = append(parts, splice.Part{Name: campaign, Text: summary(r)})
	}
	return splice.File(doc, tool, parts)
}

func read(name string) (backtest.Report, error) {
	var r backtest.Report
	text, err := os.ReadFile(name)
	if err != nil {
		return r, fmt.Errorf("reading the scores: %w; make alert-quality writes them", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading the scores in %s: %w", name, err)
	}
	return r, nil
}
