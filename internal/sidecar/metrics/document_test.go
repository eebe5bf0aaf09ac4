package metrics

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reference is the file that "make generate" writes.
const reference = "../../../docs/reference/metrics.md"

func TestDocumentGolden(t *testing.T) {
	doc, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(doc)); diff != "" {
		t.Errorf("%s is stale; run make generate (-file +now):\n%s", reference, diff)
	}
}

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
