package report

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"synthetic/internal/study/figures"
)

const seeds = "../figures/testdata/"

func read(t *testing.T, name string) *figures.Study {
	t.Helper()
	s, err := figures.Read(seeds + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rows returns the cells of the first table below a heading of a report.
func rows(t *testing.T, text, heading string) [][]string {
	t.Helper()
	_, after, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	var all [][]string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(all) > 0 {
				break
			}
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		all = append(all, cells)
	}
	if len(all) < 3 {
		t.Fatalf("no table below %q", heading)
	}
	return all[2:] // without the header and its rule
}

func file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(seeds + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func rendered(t *testing.T, s *figures.Study) string {
	t.Helper()
	d, err := buildDocument(s, true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.markdown()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestImprovements checks every improvement in the comparison of routings.
func TestImprovements(t *testing.T) {
	s := read(t, "004")
	for _, row := range rows(t, file(t, "004"), "## Results") {
		for m, column := range map[figures.Metric]int{figures.TTFTP50: 3, figures.TTFTP95: 6} {
			var at float64
			fmt.Sscan(row[0], &at)
			base, _ := s.Series[0].Level(at)
			other, _ := s.Series[1].Level(at)
			if got := fmt.Sprintf("%.1f%%", compareFigures(m, base, other).improvement()); got != row[column] {
				t.Errorf("%s at %s improves by %s, the report says %s", m, row[0], got, row[column])
			}
		}
	}
}

// eagle is the report with speculative decoding against its baseline.
func eagle(t *testing.T) *figures.Study {
	base, other := read(t, "001"), read(t, "000")
	base.Name, other.Name = "Phase 0", "Phase 3"
	if d := figures.Difference(base, other); d != "" {
		t.Fatalf("they cannot be compared: %s", d)
	}
	return figures.Join([]*figures.Study{base, other})
}

var leadingNumber = regexp.MustCompile(`[0-9.]+`)

// TestChangeColumns checks the change columns of 000 against 001: sign, figure and meaning.
// Factors are printed as ×N where the report has +Nx.
func TestChangeColumns(t *testing.T) {
	s := eagle(t)
	// 6,519 / 206 is 31.6. The report truncated this one and rounds others.
	printed := map[string]string{"ttft_p50_ms 70": "×32 worse"}
	checked := 0
	for m, heading := range map[figures.Metric]string{figures.TPOTP50: "### TPOT Comparison", figures.TTFTP50: "### TTFT Comparison"} {
		for _, row := range rows(t, file(t, "000"), heading) {
			var at float64
			fmt.Sscan(row[0], &at)
			base, _ := s.Series[0].Level(at)
			other, _ := s.Series[1].Level(at)
			want := row[3]
			if strings.Contains(want, "x ") {
				want = "×" + leadingNumber.FindString(want) + " worse"
			}
			if known, ok := printed[string(m)+" "+row[0]]; ok {
				want = known
			}
			got := strings.TrimSuffix(compareFigures(m, base, other).String(), " (survivors)")
			if got != want {
				t.Errorf("%s at %s: %s, the report says %s", m, row[0], got, row[3])
			}
			checked++
		}
	}
	if checked != 16 {
		t.Errorf("%d changes checked, the report has 16", checked)
	}
}

// TestSaturationTable checks the saturation table of 000, and its reduction of capacity.
func TestSaturationTable(t *testing.T) {
	s := eagle(t)
	text := rendered(t, s)
	got := map[string][]string{}
	for _, row := range rows(t, text, "## Saturation Point") {
		got[row[0]] = row[1:]
	}
	for name, want := range map[string][]string{
		"First errors": {"Concurrency 110 (1.7%)", "Concurrency 90 (16.3%)"},
		// The report omits that 100 has no errors.
		"Sustained >5% errors": {"Concurrency 120", "Concurrency 90 (fewer at 100)"},
		"TTFT p50 > 1s":        {"Concurrency 110", "Concurrency 70"},
		// The report calls the highest level a plateau.
		"TPOT p50 plateau": {"~84ms (concurrency 120), not reached", "~68ms (concurrency 130+)"},
	} {
		if fmt.Sprint(got[name]) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if want := "from concurrency 100 to concurrency 60: -40%"; !strings.Contains(text, want) {
		t.Errorf("the report lacks %q", want)
	}
}

// TestFindingsOf001 checks the findings of 001 in its own tables.
func TestFindingsOf001(t *testing.T) {
	s := read(t, "001")
	text := rendered(t, s)
	for _, want := range []string{
		"80 → 90 (TPOT p95 +36%)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	want := "clean clean clean clean degrading degrading saturated saturated"
	if got := strings.Trim(fmt.Sprint(levelBands(s.Series[0])), "[]"); got != want {
		t.Errorf("bands %s, want %s", got, want)
	}
}

// TestComplianceOf003 checks its matrix, capacities and detailed comparison, and that a series
// that is 75 % worse does not win.
func TestComplianceOf003(t *testing.T) {
	s := read(t, "003")
	for _, row := range rows(t, file(t, "003"), "## SLO Compliance Matrix") {
		var at float64
		fmt.Sscan(row[0], &at)
		for i, want := range row[1:] {
			l, _ := s.Series[i].Level(at)
			if got := verdictWords(s.Objectives, l); got != want {
				t.Errorf("%s at %s: %s, the report says %s", s.Series[i].Name, row[0], got, want)
			}
		}
	}
	text := rendered(t, s)
	for _, want := range []string{"| phase0 | 2 | — |", "| phase3-eagle3-chat | 0.5 | -75% |", "**phase3-eagle3-chat is worse than phase0: it misses TPOT at rate 0.75/s, and phase0 meets every SLO up to rate 2/s.** Decided by capacity. Variants are compared by capacity first, then by latency."} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(text, "WINNER") {
		t.Error("a configuration with −75 % is the winner")
	}
	detail := map[string]string{}
	for _, row := range rows(t, text, "## Detailed Comparison at the Baseline's Highest Compliant Rate (2)") {
		detail[row[0]] = strings.Join(row[1:], " ")
	}
	for _, row := range rows(t, file(t, "003"), "## Detailed Comparison at Baseline Max Rate (2.00 RPS)") {
		name := strings.TrimSuffix(row[0], " (ms)")
		name = map[string]string{"Output tok/s": "Output tokens/s"}[name] + strings.ReplaceAll(name, "Output tok/s", "")
		var shown []string
		for i, cell := range row[1:] {
			l, _ := s.Series[i].Level(2)
			for _, m := range figures.Metrics() {
				if m.Title() == name {
					if got := fmt.Sprint(l.Value(m)); got != cell {
						t.Errorf("%s of %s is %s, the report says %s", name, s.Series[i].Name, got, cell)
					}
					shown = append(shown, m.Cell(l.Figure(m)))
				}
			}
		}
		if got := detail[name]; got != strings.Join(shown, " ") || got == "" {
			t.Errorf("%s is shown as %q, want %q", name, got, shown)
		}
	}
}

// TestKnownWarnings checks warnings that the reports themselves lack.
func TestKnownWarnings(t *testing.T) {
	for name, tt := range map[string]struct {
		s    *figures.Study
		want []string
	}{
		"001 against 000": {eagle(t), []string{
			"The models differ (Llama 3.1 70B Instruct FP8; Llama 3.3 70B Instruct FP8 + EAGLE-3)",
			"Phase 0, concurrency 120: 2 of 3 runs had more than 5% errors",
			"Phase 3, concurrency 110: 17.3% of turns failed, and latencies count only the others, so they look better than they are; TPOT p50 even looks better than at concurrency 100.",
		}},
		"003": {read(t, "003"), []string{"an answer of phase0 has 504 tokens, of phase3-eagle3-chat 804"}},
	} {
		all := ""
		for _, w := range studyWarnings(tt.s) {
			all += w.String() + "\n"
		}
		for _, want := range tt.want {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no warning %q among\n%s", name, want, all)
			}
		}
	}
}

// TestTurnsObeyLittlesLaw shows that the column "conversation starts/s" of the reports counts
// turns.
func TestTurnsObeyLittlesLaw(t *testing.T) {
	for _, name := range []string{"000", "001", "002"} {
		s := read(t, name)
		for _, l := range s.Series[0].Levels {
			if c := checkLittle(s, l); !c.Known || !c.holds() {
				t.Errorf("%s at %g: %.1f in flight, %.2f/s × %.1f s = %.1f", name, l.At, c.InFlight, c.Rate, c.Seconds, c.Product)
			}
		}
	}
}

// TestSeedsWithObjectives judges reports without SLOs by an SLO from outside.
func TestSeedsWithObjectives(t *testing.T) {
	s := eagle(t)
	s.Objectives = []figures.Objective{{Name: "ttft", Label: "TTFT", Timing: figures.TTFT, Threshold: 1000, Share: 95}}
	var got []string
	for _, c := range Comply(s) {
		got = append(got, fmt.Sprintf("%s %g %.0f%%", c.Variant, c.Least, 100*(c.Change-1)))
	}
	if want := "Phase 0 80 0%, Phase 3 60 -25%"; strings.Join(got, ", ") != want {
		t.Errorf("capacities %q, want %q", got, want)
	}
}
