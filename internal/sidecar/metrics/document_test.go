package metrics

import (
	"slices"
	"strings"
	"testing"
)

// TestDocumentNamesEverything; that docs/reference has the text is in TestGenerateDocs of cmd/synthetic.
func TestDocumentNamesEverything(t *testing.T) {
	doc, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Concat(Catalog(), PagerCatalog()) {
		if !strings.Contains(string(doc), "- `"+m.Name+"` ("+string(m.Kind)) {
			t.Errorf("%s is not documented", m.Name)
		}
	}
}

// TestLinesOfATarget counts the lines of a target with one job and four objectives.
func TestLinesOfATarget(t *testing.T) {
	text := scrape(t, scripted(), "text/plain").String()
	if lines := strings.Count(text, `target="east"`); lines < 200 || lines >= 300 {
		t.Errorf("a target with four objectives takes %d lines", lines)
	}
}
