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
	docs       = "../../docs/reference/panels.md"
	panelsFrom = "<!-- panels: begin, written by go test ./internal/dashboard -update -->\n"
	panelsTo   = "<!-- panels: end -->\n"
)

// TestDocs: docs/reference/panels.md contains the description of each panel.
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

// reference lists the panels of dashboards with an objective. Panels with the same description, for first
// and for follow-up turns, share a line.
func reference(t *testing.T) string {
	var b strings.Builder
	for _, d := range generate(t, dashboard.Input{SLOs: []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * 24 * time.Hour},
	}}) {
		board := decode(t, d)
		fmt.Fprintf(&b, "\n## %s\n\n`%s`, UID `%s`. %s\n", board.Title, d.File, board.UID, board.Description)
		titles := ""
		for i, p := range board.Panels {
			if p.Type == "row" {
				fmt.Fprintf(&b, "\n### %s\n\n", p.Title)
				continue
			}
			titles += "**" + p.Title + "**"
			if i+1 < len(board.Panels) && board.Panels[i+1].Description == p.Description {
				titles += ", "
				continue
			}
			fmt.Fprintf(&b, "- %s (%s, `%s`): %s\n", titles, p.Type, p.FieldConfig.Defaults.Unit, p.Description)
			titles = ""
		}
	}
	b.WriteString("\n")
	return b.String()
}
