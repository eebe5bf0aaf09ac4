package rules_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/cause"
	"synthetic/internal/slo"
)

// runbooks is the directory to which the runbook_url of each alert leads.
const runbooks = "../../docs/runbooks"

// TestRunbooks: each alert has a runbook with all sections, the index lists all runbooks, and there are no
// others.
func TestRunbooks(t *testing.T) {
	index := read(t, "README.md")
	for _, name := range alertNames() {
		text := read(t, name+".md")
		if !strings.HasPrefix(text, "# "+name+"\n") {
			t.Errorf("%s.md does not begin with its title", name)
		}
		for _, section := range []string{"Meaning", "Impact", "Confirm", "Causes", "Mitigate", "Escalate", "Silence"} {
			if !strings.Contains(text, "\n## "+section+"\n") {
				t.Errorf("%s.md has no section %q", name, section)
			}
		}
		if rules.Steps()[name] == "" || rules.Says()[name] == "" {
			t.Errorf("%s has no first step, or no words for what it means", name)
		}
		if !strings.Contains(index, "("+name+".md)") {
			t.Errorf("README.md does not list %s", name)
		}
	}
	files, err := filepath.Glob(filepath.Join(runbooks, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".md")
		if name != "README" && !slices.Contains(alertNames(), name) {
			t.Errorf("%s belongs to no alert", f)
		}
	}
}

// TestCauses: each reason of a failure and each part of a turn has its words, and nothing else has any.
func TestCauses(t *testing.T) {
	var known []string
	for _, o := range probe.Failures() {
		known = append(known, string(o))
	}
	for _, part := range cause.Parts() {
		known = append(known, string(part))
	}
	slices.Sort(known)
	if got := slices.Sorted(maps.Keys(rules.Causes())); !slices.Equal(got, known) {
		t.Errorf("words for %q, want them for %q", got, known)
	}
	for _, sli := range []slo.SLI{slo.Availability, slo.Correct, slo.TTFT, slo.AnswerTTFT, slo.TPOT, slo.NTPOT, slo.ITL, slo.TurnDuration} {
		if got := rules.Miss(slo.Objective{SLI: sli}); strings.HasPrefix(got, "turns  ") || strings.HasSuffix(got, "turns ") {
			t.Errorf("%s: %q does not say what happens", sli, got)
		}
	}
}

// TestDocsNameOnlyWhatExists: the docs name only metrics of the catalog and recorded series.
func TestDocsNameOnlyWhatExists(t *testing.T) {
	known := exported()
	for _, g := range generate(t, withServices()).Groups.Groups {
		for _, r := range g.Rules {
			known[r.Record] = nil
		}
	}
	files, err := filepath.Glob(filepath.Join(runbooks, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"how-to/alerting.md", "reference/alerts.md", "background/regression.md"} {
		files = append(files, filepath.Join(runbooks, "..", name))
	}
	name := regexp.MustCompile(`(?:[a-z_]+:)?synthetic[_:][a-z0-9_:]+`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range name.FindAllString(string(text), -1) {
			if _, ok := known[n]; !ok {
				t.Errorf("%s names %s, which is not exported or recorded", f, n)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(runbooks, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
