// Package splice replaces the generated parts of a handwritten document. A part stands
// between "<!-- begin NAME: written by TOOL -->" and "<!-- end NAME -->", each on a line of
// its own.
package splice

import (
	"fmt"
	"os"
	"strings"
)

// Part is a generated part of a document.
type Part struct {
	Name, Text string
}

// Replace returns doc with the given parts. It returns an error if a part has no place.
func Replace(doc, tool string, parts []Part) (string, error) {
	for _, p := range parts {
		begin, end := fmt.Sprintf("<!-- begin %s: written by %s -->\n", p.Name, tool), fmt.Sprintf("<!-- end %s -->", p.Name)
		before, rest, ok := strings.Cut(doc, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("the document lacks %q and %q", strings.TrimSpace(begin), end)
		}
		doc = before + begin + "\n" + strings.TrimSpace(p.Text) + "\n\n" + end + after
	}
	return doc, nil
}

// File updates the parts of a document.
func File(name, tool string, parts []Part) error {
	doc, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	fresh, err := Replace(string(doc), tool, parts)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.WriteFile(name, []byte(fresh), 0o644); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}

// Table renders a Markdown table. The first row is the header, and all columns are aligned
// by align: "---" or "---:".
func Table(align string, rows ...[]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|"+align, len(row)) + "|\n")
		}
	}
	return b.String()
}
