package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/config/yamlform"
)

// TestBad loads every file of testdata/bad and compares its mistakes with the "# want:" lines at its end.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("found %d files, want at least 100", len(files))
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yml"), func(t *testing.T) {
			if hasKubernetes && filepath.Base(path) == "discovery-kubernetes.yml" {
				t.Skip("this build has the discovery of Kubernetes")
			}
			cfg, err := Load(path)
			if cfg != nil {
				t.Error("a configuration came with the error")
			}
			problems, ok := errors.AsType[yamlform.Errors](err)
			if !ok {
				t.Fatalf("got error %v of type %T, want Errors", err, err)
			}
			got := strings.ReplaceAll(err.Error(), path+":", "")
			if diff := cmp.Diff(wanted(t, path), strings.Split(got, "\n")); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
			if strings.Contains(got, "hunter") {
				t.Error("a message repeats a secret")
			}
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.Remedy == "" {
					t.Errorf("incomplete: %+v", p)
				}
			}
		})
	}
}

// wanted returns the "# want:" lines of a file.
func wanted(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if want, ok := strings.CutPrefix(line, "# want: "); ok {
			out = append(out, strings.TrimSuffix(want, "\n"))
		}
	}
	return out
}
