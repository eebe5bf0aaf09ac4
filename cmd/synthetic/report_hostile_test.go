package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synthetic/internal/chart"
	"synthetic/internal/serverside"
	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

// hostileName is a model name or an error text from a hostile deployment.
const hostileName = "evil | <script>alert(1)</script> <img src=x onerror=y>\n# heading\n```\n[click](javascript:z) ![pixel](http://evil/x.png) \x1b[31m &#60;script>"

// TestReportOfHostileNames: names and texts from deployments remain plain text in every
// file of a report.
func TestReportOfHostileNames(t *testing.T) {
	hostile := func(suffix string) func(*runs.Run) {
		return func(r *runs.Run) {
			*r = *reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40, 80, 120}, Variants: []reporttest.Variant{
				{Name: hostileName + suffix, Slowdown: 1, Limit: 100}, {Name: "plain", Slowdown: 1.5, Limit: 100},
			}})
			r.Title, r.Workload.Summary = hostileName, hostileName
			r.Deployment = append(r.Deployment, runs.Parameter{Name: "Model", Value: hostileName, Source: "/v1/models", Variant: "plain"})
			for i := range r.Results {
				r.Results[i].Snapshots[0].Server = []serverside.Summary{{Source: hostileName, Families: []string{hostileName}}}
			}
		}
	}
	a, b := sweepFile(t, "a.json", hostile("")), sweepFile(t, "b.json", hostile("2"))
	for name, args := range map[string][]string{
		"render": {"render", a}, "compare": {"compare", a, b}, "gate": {"render", a, "--fail-on=error_pct>5%"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if code, _, stderr := reportOn(t, append(args, "--output.dir="+dir)...); stderr != "" {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(files) < 5 {
				t.Fatalf("%v, %v", files, err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				harmless(t, filepath.Base(f), string(text))
			}
		})
	}
}

var tag = regexp.MustCompile(`<(script|img)`)

// harmless checks one file of a report.
func harmless(t *testing.T, name, text string) {
	t.Helper()
	switch filepath.Ext(name) {
	case ".md":
		text = withoutCode(text)
		if bad := tag.FindString(text); bad != "" || strings.Contains(text, "](javascript") || strings.Contains(text, "](http") || strings.Contains(text, "\x1b") || strings.Contains(text, "\n# heading") {
			t.Errorf("%s: a name is interpreted as markup (%q):\n%.4000s", name, bad, text)
		}
		sameCells(t, name, text)
	case ".html":
		for _, own := range []string{"<script>" + string(chart.Script()), `<script type="application/json">`} {
			text = strings.ReplaceAll(text, own, "")
		}
		if bad := tag.FindString(text); bad != "" || strings.Contains(text, `href="javascript`) {
			t.Errorf("%s: a name is interpreted as markup (%q)", name, bad)
		}
	case ".svg":
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if e, ok := token.(xml.StartElement); err != nil || ok && (e.Name.Local == "script" || e.Name.Local == "img") {
				t.Fatalf("%s: %v, %v", name, token, err)
			}
		}
	}
}

// withoutCode removes code blocks, in which everything is text.
func withoutCode(text string) string {
	var out []string
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence == "":
			out = append(out, line)
		case line == fence:
			fence = ""
		}
	}
	return strings.Join(out, "\n")
}

// sameCells checks that all rows of a table have the same number of cells.
func sameCells(t *testing.T, name, text string) {
	t.Helper()
	before := 0
	for line := range strings.SplitSeq(text, "\n") {
		cells := strings.Count(line, "|")
		if !strings.HasPrefix(line, "|") {
			cells = 0
		}
		if before > 0 && cells > 0 && cells != before {
			t.Errorf("%s: a row has %d bars, the one above it %d:\n%s", name, cells, before, line)
		}
		before = cells
	}
}
