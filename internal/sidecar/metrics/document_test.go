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

// TestLinesOfATarget: with three objectives, a job takes at most 300 lines of text.
func TestLinesOfATarget(t *testing.T) {
	d := documentData()
	if lines := d["PerJob"].(int) + 3*d["PerSLO"].(int); lines > 300 {
		t.Errorf("a job with three objectives takes %d lines", lines)
	}
}
