package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrite writes the tables of a small campaign into both pages.
func TestWrite(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates two days; make test-long runs it")
	}
	t.Parallel()
	dir := t.TempDir()
	f := flags{worlds: "sparse", rate: 0.5, seed: 1, seeds: 1, healthy: 1, faulty: 1, faults: 5, page: filepath.Join(dir, "page.md"), readme: filepath.Join(dir, "README.md")}
	for _, name := range []string{f.page, f.readme} {
		if err := os.WriteFile(name, []byte("before\n<!-- alert-quality: begin -->\n<!-- alert-quality: end -->\nafter\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		f.page:   {"before\n", "Seeds 1 to 1. Each has 1 days", "| sparse | typical, at one conversation a minute | ", "| **all** |  | ", "| **worst** |  | sparse: ", "| TTFT ×3 | ", "after\n"},
		f.readme: {"|  | all 1 deployments | worst deployment |", "| outage: found, median minutes | ", "sparse: "},
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s has no %q:\n%s", name, part, text)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]flags{
		`unknown world "loud"; write table`: {worlds: "loud", seeds: 1, faulty: 1},
		"must be positive":                  {worlds: "table"},
		"60 faults need":                    {worlds: "table", seeds: 1, faulty: 3, faults: 60},
	} {
		if _, err := f.campaign(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
		}
	}
}
