package rules_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/rules"
)

// runbooks is where the runbook_url of each alert leads to.
const runbooks = "../../docs/runbooks"

// TestRunbooks holds docs/runbooks to the alerts: one for each, none besides,
// all in the index, and all with what a person needs who was just woken.
func TestRunbooks(t *testing.T) {
	index := read(t, "README.md")
	for _, name := range rules.Alerts() {
		text := read(t, name+".md")
		if !strings.HasPrefix(text, "# "+name+"\n") {
			t.Errorf("%s.md does not begin with its title", name)
		}
		for _, section := range []string{"Meaning", "Impact", "Confirm", "Causes", "Mitigate", "Escalate", "Silence"} {
			if !strings.Contains(text, "\n## "+section+"\n") {
				t.Errorf("%s.md has no section %q", name, section)
			}
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
		if name != "README" && !slices.Contains(rules.Alerts(), name) {
			t.Errorf("%s belongs to no alert", f)
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
