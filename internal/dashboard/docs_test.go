package dashboard_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/dashboard"
	"synthetic/internal/slo"
)

const (
	docs       = "../../docs/dashboards.md"
	panelsFrom = "<!-- panels: begin, written by go test ./internal/dashboard -update -->\n"
	panelsTo   = "<!-- panels: end -->\n"
)

// TestDocs holds that docs/dashboards.md says of each panel what the panel
// says of itself.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), panelsFrom)
	old, after, found := strings.Cut(rest, panelsTo)
	if !ok || !found {
		t.Fatalf("%s lacks the lines %q and %q", docs, panelsFrom, panelsTo)
	}
	want := reference(t)
	if *update {
		if err := os.WriteFile(docs, []byte(before+panelsFrom+want+panelsTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, old); diff != "" {
		t.Errorf("%s is stale (-want +got); rewrite it with -update\n%s", docs, diff)
	}
}

// reference lists the panels of dashboards with one objective.
func reference(t *testing.T) string {
	var b strings.Builder
	for _, d := range generate(t, dashboard.Input{SLOs: []slo.Objective{{
		Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * 24 * time.Hour,
	}}}) {
		board := decode(t, d)
		fmt.Fprintf(&b, "\n### %s\n\n`%s`, UID `%s`. %s\n", board.Title, d.File, board.UID, board.Description)
		for _, p := range board.Panels {
			if p.Type == "row" {
				fmt.Fprintf(&b, "\n#### Row “%s”\n", p.Title)
				continue
			}
			fmt.Fprintf(&b, "\n**%s** (%s, unit `%s`). %s\n", p.Title, p.Type, p.FieldConfig.Defaults.Unit, oneParagraph(p.Description))
		}
	}
	b.WriteString("\n")
	return b.String()
}

// oneParagraph sets the parts of a description one after the other.
func oneParagraph(description string) string {
	return strings.NewReplacer("\n\n**Read:** ", " *Read:* ", "\n\n**Act:** ", " *Act:* ").Replace(description)
}
