package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"synthetic/internal/chart"
	"synthetic/tools/testkit/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// routings returns a run of two variants, the second of which is quicker. Tests share it and must not change it.
var routings = sync.OnceValue(func() *Study {
	run := reporttest.Run(reporttest.Options{
		Seed: 1, Repetitions: 2, Variants: []reporttest.Variant{{Name: "round_robin", Slowdown: 1, Limit: 100}, {Name: "kv_aware", Slowdown: 0.7}},
	})
	return FromRun(run)
})

func TestGolden(t *testing.T) {
	single := FromRun(reporttest.Run(reporttest.Options{Seed: 2}))
	for name, s := range map[string]*Study{
		"000": read(t, "000"), "001": read(t, "001"), "002": read(t, "002"), "003": read(t, "003"), "004": read(t, "004"),
		"000-against-001": eagle(t), "run": single, "variants": routings(),
	} {
		t.Run(name, func(t *testing.T) {
			text, _, _ := strings.Cut(rendered(t, s), "## Reference Data")
			compareGolden(t, name+".md", text)
		})
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; look at it, then rewrite it with -update (-want +got):\n%s", path, diff)
	}
}

// TestReportsReadBack: the reference data in the page has the figures of the tables, so that it gives the published
// reports again.
func TestReportsReadBack(t *testing.T) {
	for _, name := range []string{"000", "001", "002", "003", "004"} {
		dir := t.TempDir()
		want, err := Files(read(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, want); err != nil {
			t.Fatal(err)
		}
		back, err := Read(filepath.Join(dir, "report.md"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := Files(back)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if diff := cmp.Diff(string(want[i].Data), string(got[i].Data)); diff != "" {
				t.Errorf("%s: %s is different after reading report.md (-want +got):\n%.2000s", name, want[i].Name, diff)
			}
		}
	}
}

// TestPublishedStudies: the reports in docs/studies are read, and those made of them judge by the same objectives.
func TestPublishedStudies(t *testing.T) {
	paths, err := filepath.Glob("../../../docs/studies/*/report.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d reports: %v", len(paths), err)
	}
	for _, path := range paths {
		s, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		files, err := Files(s)
		if err != nil {
			t.Fatal(err)
		}
		published, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rendered := files[slices.IndexFunc(files, func(f File) bool { return f.Name == "report.md" })].Data
		for _, line := range strings.Split(string(published), "\n") {
			if rule := strings.HasPrefix(line, "PASS = "); rule && !strings.Contains(string(rendered), line+"\n") {
				t.Errorf("%s: the report made of it does not have the line %q", path, line)
			}
		}
		if !strings.Contains(string(published), "PASS = ") {
			t.Errorf("%s has no objectives", path)
		}
	}
}

// randomStudies returns studies with levels that are short, distorted, not reached or given up.
func randomStudies(t *testing.T, n uint64) (all []*Study) {
	t.Helper()
	for seed := range n {
		run := randomRun(100 + seed)
		s := FromRun(run)
		s.Notes, s.Warnings, s.Interrupted = append(s.Notes, "a note"), append(s.Warnings, "The sweep did not finish: stopped"), "stopped"
		all = append(all, s)
	}
	return all
}

// TestSchema: the data of reports follows the schema for its readers.
func TestSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	schema, err := c.Compile("../../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	answers := studyOf(recalled(map[float64]float64{10: 0, 40: 0.1}, correct))
	for i, s := range append(randomStudies(t, 2), routings(), read(t, "003"), read(t, "000"), answers) {
		data, err := jsonFile(s)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("study %d: %v", i, err)
		}
	}
}

// TestPage: the page contains no external address, no script but that of the charts, and escapes foreign text.
func TestPage(t *testing.T) {
	s := *routings()
	s.Series = slices.Clone(s.Series)
	s.Series[0].Levels = slices.Clone(s.Series[0].Levels)
	s.Title = `<script>alert("x")</script>`
	s.Series[0].Levels[0].Warnings = []string{"odd <b>text</b>"}
	page, err := documentOf(t, &s).html()
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	own := "<script>" + string(chart.Script()) + "</script>"
	if n := strings.Count(text, own); n != 1 {
		t.Errorf("the script of the charts is there %d times", n)
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, own, ""), `<script type="application/json">`, "")
	for _, bad := range []string{"<script", "<b>text", "src=", "url(", "@import", "<link"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if links := regexp.MustCompile(`href="[^#]`).FindString(text); links != "" {
		t.Errorf("the page has a link that leaves it: %s", links)
	}
	for _, want := range []string{"&lt;script&gt;", "prefers-color-scheme:dark", `name="viewport"`, "<svg viewBox", `class="good"`, `class="bad"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text, "<svg "); n < 4 {
		t.Errorf("%d pictures on the page, want one per metric", n)
	}
}

// TestCellsAreColoredByTheirClass: the text of a cell does not matter.
func TestCellsAreColoredByTheirClass(t *testing.T) {
	page, err := document{Sections: []section{{Blocks: []block{{Table: &table{
		Header: []string{"a", "b"}, Rows: [][]cell{{{Text: "PASS"}, {Text: "n/a", Class: classGood}}},
	}}}}}}.html()
	if err != nil || !strings.Contains(string(page), `<th scope="row">PASS</th><td class="good">n/a</td>`) {
		t.Errorf("%v:\n%s", err, page)
	}
}

// TestFilesAreWholeAndLinked: every picture of the Markdown is written.
func TestFilesAreWholeAndLinked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	files, err := Files(routings())
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, files); err != nil {
		t.Fatal(err)
	}
	markdown, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)]+\.svg)\)`).FindAllStringSubmatch(string(markdown), -1)
	if len(links) < 4 {
		t.Errorf("%d pictures", len(links))
	}
	for _, link := range links {
		if info, err := os.Stat(filepath.Join(dir, link[1])); err != nil || info.Size() < 500 {
			t.Errorf("picture %s: %v", link[1], err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(files) {
		t.Errorf("%d files in the directory (%v), want %d", len(entries), err, len(files))
	}
}

func TestNothingMeasured(t *testing.T) {
	run := reporttest.Run(reporttest.Options{Seed: 1})
	run.Results, run.Interrupted = nil, "by a signal"
	if _, err := Files(FromRun(run)); err == nil || !strings.Contains(err.Error(), "no level was measured") {
		t.Errorf("error %v", err)
	}
}

// TestWinnerAndTies: a variant wins if it meets the SLOs at a higher level than the baseline.
func TestWinnerAndTies(t *testing.T) {
	variants := func(slowdowns ...float64) *Study {
		var all []reporttest.Variant
		for i, s := range slowdowns {
			all = append(all, reporttest.Variant{Name: string(rune('a' + i)), Slowdown: s})
		}
		return FromRun(reporttest.Run(reporttest.Options{Seed: 3, Variants: all, Levels: []float64{40, 80, 100, 120}}))
	}
	for _, tt := range []struct {
		name, want string
		s          *Study
	}{
		{"better", "b is better than a: TTFT p50 ", variants(2.2, 1)},
		{"better", "and it meets the SLOs up to concurrency 100, a at no level.**", variants(2.2, 1)},
		{"the winner", "| b **WINNER** | 100 | n/a |", variants(2.2, 1)},
		{"worse", "| b | none | -100% |\n\n**No variant improved on the baseline.**", variants(1, 2.2)},
		{"equal", "b is no different from a: ", variants(1, 1)},
		{"two better", "| b **WINNER** | 100 | n/a |\n| c **WINNER** | 100 | n/a |", variants(2.2, 1, 1)},
		{"the SLOs are named", "PASS = TTFT p99 < 1000ms AND TPOT p99 < 60ms", variants(1, 0.8)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if text := rendered(t, tt.s); !strings.Contains(text, tt.want) {
				t.Errorf("the report lacks %q:\n%.1500s", tt.want, text)
			}
		})
	}
}

// TestTitleIsMade: a study without a title is named after its variants and levels.
// TestUnjudgedLevels: a level that was not reached proves no capacity, no winner and no change.
func TestUnjudgedLevels(t *testing.T) {
	study := func(a, b string) *Study {
		s := &Study{Objectives: slos()[:1]}
		for i, notReached := range []string{a, b} {
			series := series(TTFTP99, 100, 90)
			series.Name = []string{"a", "b"}[i]
			for j, at := range series.Levels {
				if strings.Contains(notReached, formatLevel(at.At)) {
					series.Levels[j].NotReached = "half of them"
				}
			}
			s.Series = append(s.Series, series)
		}
		return s
	}
	for _, tt := range []struct{ a, b, want string }{
		{"10, 20", "", "| a | n/a | — |\n| b | 20 or more | n/a |\n\n**There is no winner, because a was not judged at every level up to 20.**"},
		{"20", "", "| a | 10 or more (20 not judged) | — |\n| b | 20 or more | n/a |\n\n**There is no winner"},
		{"", "20", "| b | 10 or more (20 not judged) | n/a |\n\n**No variant"},
		{"", "20", "it meets the SLOs up to concurrency 10 (20 not judged), a up to concurrency 20"},
		{"", "20", "| TTFT p99 | 90ms | – | – |"},
	} {
		if text := rendered(t, study(tt.a, tt.b)); !strings.Contains(text, tt.want) {
			t.Errorf("not reached: %q by a, %q by b; %q is missing in\n%s", tt.a, tt.b, tt.want, text)
		}
	}
}

// TestSummary: the development of a figure names its variant, and its sentences agree with the printed changes.
func TestSummary(t *testing.T) {
	base := series(TTFTP50, 100, 100)
	ofNoise := func(percent float64, values ...float64) Series {
		s := series(TTFTP50, values...)
		for _, l := range s.Levels {
			v := l.Figures[TTFTP50].Value
			l.Figures[TTFTP50] = Figure{Value: v, Low: v * (1 - percent/100), High: v * (1 + percent/100), N: 1000, Quantile: true}
		}
		return s
	}
	for _, tt := range []struct {
		name     string
		compared bool
		others   []Series
		want     string
	}{
		{"equal", false, []Series{series(TTFTP50, 100, 100)}, "- **Trend:** The TTFT p50 improvement does not change (0% at 10 -> 0% at 20)."},
		{"always worse", false, []Series{series(TTFTP50, 105, 104.8)}, "- **Trend:** TTFT p50 is less worse at higher concurrency (-5.0% at 10 -> -4.8% at 20)."},
		{"two others", false, []Series{series(TTFTP50, 90, 80), series(TTFTP50, 70, 60)},
			"- **Mean of v1:** TTFT p50 improvement 35.2% over 2 levels."},
		{"peak of two others", false, []Series{series(TTFTP50, 90, 80), series(TTFTP50, 70, 60)},
			"- **Peak benefit of v0:** Concurrency 20 shows the maximum TTFT p50 improvement at 20.0%."},
		{"runs", true, []Series{series(TTFTP50, 90, 80)}, "- **Mean:** TTFT p50 change -15% better over 2 levels."},
		{"printed first", true, []Series{series(TTFTP50, 110.49, 115.51)}, "v0 against a: TTFT p50 is 10–16% worse at 10–20."},
		{"chance", false, []Series{ofNoise(10, 105, 150)}, "v0 against a: TTFT p50 is 50% worse at 20.\n"},
	} {
		for i := range tt.others {
			tt.others[i].Name = fmt.Sprintf("v%d", i)
		}
		s := &Study{Compared: tt.compared, Series: append([]Series{base}, tt.others...)}
		if text := rendered(t, s); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q is missing in\n%s", tt.name, tt.want, text)
		}
	}
}

func TestTitleIsMade(t *testing.T) {
	for name, want := range map[string]string{
		"000.verbatim": "Benchmark Sweep: round_robin Concurrency Scaling (50-160)", "004.verbatim": "Benchmark Sweep: kv_aware vs round_robin Concurrency Scaling (40-120)",
	} {
		s := read(t, name)
		if s.Title != want {
			t.Errorf("%q, want %q", s.Title, want)
		}
		if text := rendered(t, s); !strings.Contains(text, "| Target RPS | 10.0 |") || !strings.HasPrefix(text, "# "+want+"\n\n**Generated:** 2026-02-2") {
			t.Errorf("the report of %s:\n%.900s", name, text)
		}
	}
}

// TestTerminal: a terminal gets the level tables with aligned columns, and the verdict.
func TestTerminal(t *testing.T) {
	text, err := Terminal(read(t, "004"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"TTFT -- Time to First Token\n  Concurrency  round_robin TTFT p50", "\n          110                 348ms              392ms                -12.7%",
		"\n           40                 99.7%             100.0%\n", "\nkv_aware is better than round_robin, except TTFT p50 at concurrency 110: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the terminal lacks %q:\n%s", want, text)
		}
	}
	unreached := series(TTFTP50, 100, 110)
	unreached.Levels[1].NotReached = "half of them"
	if text, err = Terminal(&Study{Series: []Series{unreached}}); err != nil || !strings.Contains(text, "\n† is not compared: the level did not carry its load.\n") {
		t.Errorf("a mark without its meaning (%v):\n%s", err, text)
	}
}
