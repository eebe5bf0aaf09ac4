package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/yamlform"
)

// FuzzParse holds that no text makes Parse panic, that what it refuses has a
// place and a reason in one line.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/*.yml", "testdata/good/*.yml", "../../examples/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Parse("fuzz.yml", data, "testdata/good")
		if err == nil {
			if len(cfg.Targets) == 0 || len(cfg.Jobs) == 0 {
				t.Errorf("accepted without targets or jobs: %+v", cfg)
			}
			return
		}
		problems, ok := errors.AsType[yamlform.Errors](err)
		if !ok || cfg != nil || len(problems) == 0 {
			t.Fatalf("got %T and configuration %v", err, cfg)
		}
		for _, p := range problems {
			if p.Message == "" || (p.Line < 1) != (len(data) > 4<<20) {
				t.Errorf("incomplete: %+v", p)
			}
			if strings.ContainsAny(p.Error(), "\n\r") {
				t.Errorf("more than one line: %q", p.Error())
			}
		}
	})
}
