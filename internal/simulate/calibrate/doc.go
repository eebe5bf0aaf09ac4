package main

import (
	"fmt"
	"os"
	"strings"
)

// section is a generated part of docs/simulation.md.
type section struct {
	name   string
	render func([]played) string
}

func sections() []section {
	return []section{
		{"parameters", func([]played) string { return parameters() }},
		{"summary", summary},
		{"extrapolation", extrapolation},
		{"drafting", drafting},
		{"routing", routing},
		{"SLO matrix", sloMatrix},
		{"series", seriesTables},
	}
}

// splice replaces the generated parts of a document.
func splice(doc string, runs []played) (string, error) {
	for _, s := range sections() {
		begin, end := fmt.Sprintf("<!-- begin %s: written by calibrate -->\n", s.name), fmt.Sprintf("<!-- end %s -->", s.name)
		before, rest, ok := strings.Cut(doc, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("the document lacks %q and %q", strings.TrimSpace(begin), end)
		}
		doc = before + begin + "\n" + strings.TrimSpace(s.render(runs)) + "\n\n" + end + after
	}
	return doc, nil
}

// rewrite brings a document's tables up to date.
func rewrite(name string, runs []played) error {
	doc, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	fresh, err := splice(string(doc), runs)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.WriteFile(name, []byte(fresh), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}
