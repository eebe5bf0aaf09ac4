package report

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/chart"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// routings returns a run of two variants, the second of which is quicker.
func routings() *figures.Study {
	run := reporttest.Run(reporttest.Options{
		Seed: 1, Repetitions: 2, Variants: []reporttest.Variant{{Name: "round_robin", Slowdown: 1, Limit: 100}, {Name: "kv_aware", Slowdown: 0.7}},
	})
	run.Hardware = []runfile.Hardware{{Variant: "round_robin", GPUs: 8, PricePerGPUHour: 2.5}, {Variant: "kv_aware", GPUs: 8, PricePerGPUHour: 2.5}}
	return figures.FromRuns([]*runfile.Run{run})
}

func TestGolden(t *testing.T) {
	single := figures.FromRuns([]*runfile.Run{reporttest.Run(reporttest.Options{Seed: 2})})
	for name, s := range map[string]*figures.Study{
		"000": read(t, "000"), "001": read(t, "001"), "002": read(t, "002"), "003": read(t, "003"), "004": read(t, "004"),
		"000-against-001": eagle(t), "run": single, "variants": routings(),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".md")
			got := rendered(t, s)
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
		})
	}
}

// TestDataReadsBack: the JSON of a report can be read as a report.
func TestDataReadsBack(t *testing.T) {
	for name, s := range map[string]*figures.Study{"004": read(t, "004"), "000": read(t, "000"), "003": read(t, "003"), "variants": routings()} {
		data, err := JSON(s)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		back, err := figures.Read(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(back.Series) != len(s.Series) || back.Kind != s.Kind {
			t.Fatalf("%s: %d series by %s came back, want %d by %s", name, len(back.Series), back.Kind, len(s.Series), s.Kind)
		}
		for i, series := range s.Series {
			if back.Series[i].Name != series.Name {
				t.Errorf("%s: series %q came back as %q", name, series.Name, back.Series[i].Name)
			}
			for j, l := range series.Levels {
				for _, m := range []figures.Metric{figures.TTFTP50, figures.TPOTP99, figures.OutputTokensPerSecond, figures.ErrorPct, figures.GoodputPerSecond} {
					a, b := l.Value(m), back.Series[i].Levels[j].Value(m)
					if diff := a - b; diff > 1e-6 || diff < -1e-6 || (a == a) != (b == b) {
						t.Errorf("%s, %s at %g: %s %g came back as %g", name, series.Name, l.At, m, a, b)
					}
					was, is := l.Figure(m), back.Series[i].Levels[j].Figure(m)
					if was.Known() && (was.N != is.N || was.Uncertain() != is.Uncertain() || was.Ranged() != is.Ranged() || was.Ranged() && math.Abs(was.High-is.High) > 1e-6) {
						t.Errorf("%s, %s at %g: %s %+v came back as %+v", name, series.Name, l.At, m, was, is)
					}
				}
			}
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
	s := routings()
	s.Title = `<script>alert("x")</script>`
	s.Series[0].Levels[0].Warnings = []string{"odd <b>text</b>"}
	d, err := buildDocument(s)
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
	if _, err := Files(figures.FromRuns([]*runfile.Run{run})); err == nil || !strings.Contains(err.Error(), "no level was measured") {
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
	topped := variants(1, 0.8)
	for i := range topped.Series {
		topped.Series[i].Levels = topped.Series[i].Levels[:2]
	}
	for _, tt := range []struct {
		name, want string
		s          *figures.Study
	}{
		{"better", "**b is better than a: concurrency 100 (120 misses) against 0 (40 misses).** Decided by capacity.", variants(2.2, 1)},
		{"worse", "**b is worse than a: concurrency 0 (40 misses) against 100 (120 misses).** Decided by capacity.", variants(1, 2.2)},
		{"equal", "At equal load no latency and no throughput differs by more than 5%. Capacity does not decide: both meet the SLOs up to concurrency 100.", variants(1, 1)},
		{"two equal", "**No difference: c against a, TTFT p95 ", variants(1, 1, 1)},
		{"stopped before the baseline's turn", "Capacity does not decide: b meets the SLOs up to concurrency 100 and a up to 80, but this difference is not proven", stopped(variants(1, 1))},
		{"capacity does not decide, latency does", "**b is better than a: TTFT p95 -", topped},
		{"the highest level is met", "Capacity does not decide: both meet the SLOs up to concurrency 80, the highest level that was reached; measure higher.", topped},
		{"the SLOs are named", "b meets TTFT p99 < 1000ms and TPOT p99 < 60ms up to concurrency 80. That is the highest level that was reached: measure higher", topped},
		{"two better", "**c is better than a: concurrency 100 (120 misses) against 0 (40 misses).**", variants(2.2, 1, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if text := rendered(t, tt.s); !strings.Contains(text, tt.want) {
				t.Errorf("the report lacks %q; capacities:\n%s", tt.want, strings.Join(firstCells(rows(t, text, "## Winner Identification")), "\n"))
			}
		})
	}
}

// stopped removes the levels of the first variant that a stopped sweep would lack.
func stopped(s *figures.Study) *figures.Study {
	s.Series[0].Levels = s.Series[0].Levels[:2]
	return s
}

func firstCells(rows [][]string) []string {
	var all []string
	for _, r := range rows {
		all = append(all, strings.Join(r, " "))
	}
	return all
}
