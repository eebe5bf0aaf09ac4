package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
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
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// routings returns a run of two variants, the second of which is quicker. Tests share it and must
// not change it.
var routings = sync.OnceValue(func() *figures.Study {
	run := reporttest.Run(reporttest.Options{
		Seed: 1, Repetitions: 2, Variants: []reporttest.Variant{{Name: "round_robin", Slowdown: 1, Limit: 100}, {Name: "kv_aware", Slowdown: 0.7}},
	})
	return figures.FromRuns([]*runfile.Run{run})
})

func TestGolden(t *testing.T) {
	single := figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{Seed: 2})})
	for name, s := range map[string]*figures.Study{
		"000": read(t, "000"), "001": read(t, "001"), "002": read(t, "002"), "003": read(t, "003"), "004": read(t, "004"),
		"000-against-001": eagle(t), "run": single, "variants": routings(),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := buildDocument(s, false)
			if err != nil {
				t.Fatal(err)
			}
			page, err := d.markdown()
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, name+".md", string(page))
			if words := len(strings.Fields(string(page))); words > 1500 {
				t.Errorf("%d words on a page, want 1500", words)
			}
			before, _, _ := strings.Cut(string(page), "## Appendix")
			if words := len(strings.Fields(before)); words > 400 {
				t.Errorf("%d words before the appendix, want 400", words)
			}
			if name == "003" || name == "variants" {
				text, _, _ := strings.Cut(rendered(t, s), "## Reference Data")
				compareGolden(t, name+"-full.md", text)
			}
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

// TestReportsReadBack: the data of a report, and its long form in Markdown, give the same reports
// again: verdicts, SLOs, configuration, notes and figures. A page is read with the data beside it.
func TestReportsReadBack(t *testing.T) {
	all := map[string]*figures.Study{
		"000": read(t, "000"), "001": read(t, "001"), "002": read(t, "002"), "003": read(t, "003"), "004": read(t, "004"), "variants": routings(),
		"answers": studyOf(recalled(map[float64]float64{10: 0, 40: 0.1}, correct)),
	}
	odd := uint64(3)
	if testing.Short() {
		odd = 1
	}
	for i, s := range randomStudies(t, odd) {
		all[fmt.Sprint("odd ", i)] = s
	}
	for name, s := range all {
		for full, from := range map[bool]string{false: "report.json", true: "report.md"} {
			dir := filepath.Join(t.TempDir(), name)
			want, err := Files(s, full)
			if err != nil {
				t.Fatal(err)
			}
			if err := Write(dir, want); err != nil {
				t.Fatal(err)
			}
			back, err := figures.Read(filepath.Join(dir, from))
			if err != nil {
				t.Fatalf("%s, %s: %v", name, from, err)
			}
			got, err := Files(back, full)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if diff := cmp.Diff(string(want[i].Data), string(got[i].Data)); diff != "" {
					t.Errorf("%s, full %v: %s is different after reading %s (-want +got):\n%.2000s", name, full, want[i].Name, from, diff)
				}
			}
		}
	}
}

// randomStudies returns studies with levels that are short, distorted, not reached or given up.
func randomStudies(t *testing.T, n uint64) (all []*figures.Study) {
	t.Helper()
	for seed := range n {
		run := randomRun(100 + seed)
		s := figures.FromRuns([]*runfile.Run{run})
		s.Notes, s.Warnings, s.Interrupted = append(s.Notes, "a note"), append(s.Warnings, "The sweep did not finish: stopped"), "stopped"
		all = append(all, s)
	}
	return all
}

// TestAPageAloneIsRefused: a page without its data would be read as another report.
func TestAPageAloneIsRefused(t *testing.T) {
	files, err := Files(routings(), false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Write(dir, files[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := figures.Read(filepath.Join(dir, "report.md")); err == nil || !strings.Contains(err.Error(), "the report.json beside its report") {
		t.Errorf("error %v", err)
	}
}

// TestSchema: the data of reports follows the schema for its readers.
func TestSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	schema, err := c.Compile("../../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	variants, answers := routings(), studyOf(recalled(map[float64]float64{10: 0, 40: 0.1}, correct))
	for i, s := range append(randomStudies(t, 2), variants, read(t, "003"), read(t, "000"), answers) {
		data, err := JSON(s)
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
	data, _ := JSON(variants)
	for change, want := range map[string]string{
		`"schema": 2`:                           `"schema" is 2, and this version reads 1`,
		`"schema": 1, "slos": "ttft"`:           `"slos" must be a list`,
		`"standing": "perhaps"`:                 `the standing "perhaps", which no report has`,
		`"schema": 1, "level_kind": 3`:          `"level_kind" must be`,
		`"schema": 1, "interrupted": ["a"]`:     `"interrupted" must be`,
		`"schema": 1, "generated": {"at": "?"}`: `"generated" must be`,
	} {
		path := filepath.Join(t.TempDir(), "report.json")
		old := `"schema": 1`
		if strings.Contains(change, "standing") {
			old = `"standing": "met"`
		}
		text := strings.Replace(string(data), old, change, 1)
		for _, key := range []string{"slos", "level_kind", "interrupted", "generated"} {
			if strings.Contains(change, key) {
				text = strings.Replace(text, "\n  \""+key+"\":", "\n  \"other\":", 1)
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := figures.Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", change, err, want)
		}
	}
}

// TestSameKeys: every value in the data of the reports has the same key and unit in ours.
func TestSameKeys(t *testing.T) {
	for _, name := range []string{"000", "002", "004"} {
		_, after, _ := strings.Cut(file(t, name), "```json\n")
		text, _, _ := strings.Cut(after, "```")
		var want, got struct{ Levels []map[string]any }
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		data, err := JSON(read(t, name))
		if err != nil || json.Unmarshal(data, &got) != nil {
			t.Fatal(err)
		}
		for i, level := range want.Levels {
			contains(t, name, level, got.Levels[i])
		}
	}
}

func contains(t *testing.T, place string, want, got map[string]any) {
	t.Helper()
	for key, value := range want {
		if inner, ok := value.(map[string]any); ok {
			contains(t, place+"."+key, inner, got[key].(map[string]any))
			continue
		}
		if value == 0.0 && (key == "tops" || key == "kv_hit_rate_pct") {
			if _, there := got[key]; there {
				t.Errorf("%s: %s of an empty query is %v, want it left out", place, key, got[key])
			}
			continue
		}
		if got[key] != value {
			t.Errorf("%s: %s is %v, want %v", place, key, got[key], value)
		}
	}
}

func TestCSV(t *testing.T) {
	data, err := csvFile(routings())
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil || len(records) != 1+2*5 {
		t.Fatalf("%d records (%v), want a header and 10", len(records), err)
	}
	column := map[string]int{}
	for i, name := range records[0] {
		column[name] = i
	}
	first := records[1]
	if first[0] != "40" || first[column["variant"]] != "round_robin" || first[column["slo"]] != "PASS" || first[column["ttft_p50_ms_low"]] == "" {
		t.Errorf("first record %q", first)
	}
	last := records[5]
	if last[0] != "120" || last[column["ttft_p95_with_failures_ms"]] != "" || !strings.HasPrefix(last[column["slo"]], "FAIL") {
		t.Errorf("record of a level that refuses turns: %q", last)
	}
}

// TestPage: the page contains no external address, no script but that of the charts, and
// escapes foreign text.
func TestPage(t *testing.T) {
	s := *routings()
	s.Series = slices.Clone(s.Series)
	s.Series[0].Levels = slices.Clone(s.Series[0].Levels)
	s.Title = `<script>alert("x")</script>`
	s.Series[0].Levels[0].Warnings = []string{"odd <b>text</b>"}
	d, err := buildDocument(&s, true)
	if err != nil {
		t.Fatal(err)
	}
	page, err := d.html()
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
	if n := strings.Count(text, "<svg "); n < 6 {
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
	files, err := Files(routings(), true)
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
	if len(links) < 6 {
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
	if _, err := Files(figures.FromRuns([]*runfile.Run{run}), true); err == nil || !strings.Contains(err.Error(), "no level was measured") {
		t.Errorf("error %v", err)
	}
}

func TestWinnerAndTies(t *testing.T) {
	variants := func(slowdowns ...float64) *figures.Study {
		var all []reporttest.Variant
		for i, s := range slowdowns {
			all = append(all, reporttest.Variant{Name: string(rune('a' + i)), Slowdown: s})
		}
		return figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{Seed: 3, Variants: all, Levels: []float64{40, 80, 100, 120}})})
	}
	topped, equal := variants(1, 0.8), variants(1, 1)
	for i := range topped.Series {
		topped.Series[i].Levels = topped.Series[i].Levels[:2]
	}
	for _, tt := range []struct {
		name, want string
		s          *figures.Study
	}{
		{"better", "**b is better than a: it meets every SLO up to concurrency 80, and a misses TPOT at concurrency 40.** Decided by capacity. Variants are compared by capacity first, then by latency.", variants(2.2, 1)},
		{"worse", "**b is worse than a: it misses TPOT at concurrency 40, and a meets every SLO up to concurrency 80.** Decided by capacity. Variants are compared by capacity first, then by latency.", variants(1, 2.2)},
		{"equal", "At equal load no latency and no throughput differs by more than 5%.\n\n**Capacity of a: at least concurrency 80, below 120 (proven).** At concurrency 80, every", equal},
		{"two equal", "**No difference: c against a, TTFT p95 ", variants(1, 1, 1)},
		{"stopped before the baseline's turn", "**Next:** choose by other reasons. To know the capacity of a, measure above concurrency 80.", stopped(equal)},
		{"capacity does not decide, latency does", "**b is better than a: TTFT p95 -", topped},
		{"the highest level is met", "**Next:** b can replace a. To know the capacity of b, measure above concurrency 80.", topped},
		{"the SLOs are named", "PASS = TTFT p99 < 1000ms AND TPOT p99 < 60ms", topped},
		{"two better", "**c is better than a: it meets every SLO up to concurrency 80, and a misses TPOT at concurrency 40.**", variants(2.2, 1, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if text := rendered(t, tt.s); !strings.Contains(text, tt.want) {
				t.Errorf("the report lacks %q; capacities:\n%s", tt.want, strings.Join(firstCells(rows(t, text, "## Winner Identification")), "\n"))
			}
		})
	}
}

// stopped returns the study without the levels of the first variant that a stopped sweep would lack.
func stopped(s *figures.Study) *figures.Study {
	short := *s
	short.Series = slices.Clone(s.Series)
	short.Series[0].Levels = s.Series[0].Levels[:2]
	return &short
}

func firstCells(rows [][]string) []string {
	var all []string
	for _, r := range rows {
		all = append(all, strings.Join(r, " "))
	}
	return all
}
