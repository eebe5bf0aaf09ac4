package metrics

import (
	"strings"
	"testing"
)

func TestDocumentGolden(t *testing.T) {
	doc, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../../docs/reference/metrics.md", doc)
}

func TestDocumentNamesEverything(t *testing.T) {
	doc, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(Catalog(), PagerCatalog()...) {
		if !strings.Contains(string(doc), "- `"+m.Name+"` ("+string(m.Kind)) {
			t.Errorf("%s is not documented", m.Name)
		}
	}
}
