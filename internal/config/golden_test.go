package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs is the directory of the generated documentation.
const docs = "../../docs"

// TestGoldenDocs checks that the generated files in docs/ are up to date.
func TestGoldenDocs(t *testing.T) {
	for name, got := range map[string][]byte{
		"reference/configuration.md": Documentation().Reference(),
		"synthetic.schema.json":      Documentation().Schema(),
		"reference/plan.md":          PlanDocumentation().Reference(),
		"plan.schema.json":           PlanDocumentation().Schema(),
	} {
		path := filepath.Join(docs, name)
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is stale; run make generate (-want +got):\n%s", path, diff)
		}
	}
}
