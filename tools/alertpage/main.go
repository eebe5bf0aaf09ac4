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

// part makes a part of the document out of the scores of a campaign.
type part struct {
	name, campaign string
	text           func(backtest.Report) string
}

func parts() []part {
	return []part{
		{"promised", "worlds", promised}, {"worlds", "worlds", worlds}, {"can be seen", "worlds", forecasts},
		{"descriptions", "worlds", descriptions}, {"comparison", "compare", comparison},
		{"fleet", "fleet", fleet},
	}
}

// rewrite splices the tables of every campaign into the document.
func rewrite(doc string) error {
	dir := strings.TrimSuffix(doc, filepath.Ext(doc))
	reports := map[string]backtest.Report{}
	var out []splice.Part
	for _, p := range parts() {
		if _, ok := reports[p.campaign]; !ok {
			r, err := renew(filepath.Join(dir, p.campaign))
			if err != nil {
				return err
			}
			reports[p.campaign] = r
		}
		out = append(out, splice.Part{Name: p.name, Text: p.text(reports[p.campaign])})
	}
	return splice.File(doc, tool, out)
}

// renew reads the scores in a directory and writes their tables anew.
func renew(dir string) (backtest.Report, error) {
	var r backtest.Report
	name := filepath.Join(dir, "scores.json")
	text, err := os.ReadFile(name)
	if err != nil {
		return r, fmt.Errorf("reading the scores: %w; make alert-quality writes them", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading the scores in %s: %w", name, err)
	}
	var tables strings.Builder
	if err := r.WriteMarkdown(&tables); err != nil {
		return r, err
	}
	if err := os.WriteFile(filepath.Join(dir, "scores.md"), []byte(tables.String()), 0o644); err != nil {
		return r, fmt.Errorf("writing the tables: %w", err)
	}
	return r, nil
}
