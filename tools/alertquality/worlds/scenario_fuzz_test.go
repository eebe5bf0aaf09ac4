package worlds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/config/yamlform"
)

// FuzzLoadScenario: an accepted scenario is not empty, and each mistake in a refused one has a
// line and a one-line reason.
func FuzzLoadScenario(f *testing.F) {
	example, err := os.ReadFile("../scenario.yml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte("models: [{name: a, like: typical, outlier_max: 1e308, output_tokens: 9223372036854775807, tpot: 106751d}]\n"))
	f.Add([]byte("faults: [{name: a, kind: slow, size: 1e308, ramp: 290y, within: 290y, length: 290y, at: [290y, 0s]}]\n"))
	path := filepath.Join(f.TempDir(), "scenario.yml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := LoadScenario(path)
		if err == nil {
			if len(s.Models)+len(s.Faults) == 0 {
				t.Error("accepted with neither models nor faults")
			}
			return
		}
		problems, ok := err.(yamlform.Errors)
		if !ok || len(problems) == 0 {
			t.Fatalf("got %T", err)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Message == "" || strings.ContainsAny(p.Error(), "\n\r") {
				t.Errorf("incomplete: %+v", p)
			}
		}
	})
}
