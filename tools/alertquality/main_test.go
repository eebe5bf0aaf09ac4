package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/tools/alertquality/engine"
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
		f.readme: {"|  | all 1 deployments | worst deployment |", "| TTFT ×3: found, median minutes | ", "| sparse: "},
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

// TestWorst: the worst world has the lowest share of found incidents, then the longest median.
func TestWorst(t *testing.T) {
	t.Parallel()
	world := func(name string, minutes ...float64) engine.Score {
		s := engine.Score{World: name}
		for _, m := range minutes {
			s.Detections = append(s.Detections, engine.Detection{Incident: engine.Incident{Name: "outage"}, ToPage: 60 * m})
		}
		return s
	}
	c, inf := column{"", "outage", toPage, 0}, math.Inf(1)
	for want, scores := range map[string][]engine.Score{
		"–":              {world("a"), world("b")},
		"b: 2 of 2, 3.0": {world("a", 1, 9), world("b", 3, 4), world("c")},
		"a: 1 of 2, 1.0": {world("a", 1, inf), world("b", 3, 4)},
		"b: 0 of 1":      {world("a", 1, inf), world("b", inf)},
	} {
		if got := (result{scores: scores}).worst(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
