package config

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated files in docs/")

// TestGoldenDocs holds the generated files in docs/ to the structs.
func TestGoldenDocs(t *testing.T) {
	for name, got := range map[string][]byte{
		"reference/configuration.md": Reference(),
		"synthetic.schema.json":      Schema(),
		"reference/plan.md":          PlanReference(),
		"plan.schema.json":           PlanSchema(),
	} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is stale; run go test ./internal/config -update (-want +got):\n%s", path, diff)
		}
	}
}
