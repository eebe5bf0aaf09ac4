package demo

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"synthetic/internal/slo"
)

//go:embed testdata/demo-quality.md.tmpl
var qualityTemplate string

// qualityPage is what bin/demo-quality.md says.
type qualityPage struct {
	levels []levelRow
	faults []verdict
}

// levelRow is a level of the reports, and what came of it in the demo.
type levelRow struct {
	change
	verdict verdict
}

// markdown renders the page.
func (p qualityPage) markdown() []byte {
	var out bytes.Buffer
	page := template.Must(template.New("").Parse(qualityTemplate))
	err := page.Execute(&out, map[string]any{"Levels": p.levelTable(), "Faults": p.faultTable(), "Seeds": trialSeeds})
	if err != nil {
		panic(err) // of a template that is part of the test
	}
	return out.Bytes()
}

func (p qualityPage) levelTable() string {
	var b strings.Builder
	b.WriteString("| In flight | TTFT p50 in the reports | TPOT p50 in the reports | In the demo | Bound | First page | Regression page | Likely part |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range p.levels {
		fmt.Fprintf(&b, "| %d | %.0f → %.0f ms, × %s | %.0f → %.0f ms, × %s | %s |\n", r.level,
			r.ttftBefore, r.ttftAfter, times(r.ttftAfter/r.ttftBefore), r.tpotBefore, r.tpotAfter, times(r.tpotAfter/r.tpotBefore),
			r.verdict.cells())
	}
	return b.String()
}

func (p qualityPage) faultTable() string {
	var b strings.Builder
	b.WriteString("| Fault | What a client sees | Bound | First page | Told by | Likely part |\n|---|---|---|---|---|---|\n")
	for _, v := range p.faults {
		name := v.name
		if strings.HasPrefix(v.target.Usual, "trtllm") {
			name += " (one of three)"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, v.cells())
	}
	return b.String()
}

// cells are what was seen, the bounds, the first page of all, what was told and
// the part that it named.
func (v verdict) cells() string {
	var told, bounds, parts []string
	for i, w := range v.wants {
		one := v.told[i][0]
		told = append(told, strings.TrimPrefix(one.alert, "Synthetic")+concerns(one)+" "+spread(v.told[i]))
		bounds = append(bounds, slo.FormatDuration(w.bound(v.bound)))
		if w.part != "" {
			parts = append(parts, "`"+one.part+"`")
		}
	}
	first := "none"
	if len(v.paged) > 0 {
		first = strings.TrimPrefix(v.paged[0].alert, "Synthetic") + concerns(v.paged[0]) + " " + spread(v.paged)
	}
	return strings.Join([]string{v.seen(), strings.Join(bounds, ", "), first, strings.Join(told, ", "), strings.Join(parts, ", ")}, " | ")
}

// concerns says which signal or objective an alert is about.
func concerns(g page) string {
	if g.signal+g.slo == "" {
		return ""
	}
	return " (" + g.signal + g.slo + ")"
}

// spread are the median and the slowest of some pages, from the fault on. A page
// at the moment of the fault was due before it.
func spread(pages []page) string {
	var took []time.Duration
	for _, g := range pages {
		took = append(took, g.first-pause)
	}
	slices.Sort(took)
	median, slowest := took[len(took)/2], took[len(took)-1]
	switch {
	case slowest == 0:
		return "before"
	case median == slowest:
		return slo.FormatDuration(median)
	}
	return slo.FormatDuration(median) + " – " + slo.FormatDuration(slowest)
}

// seen says by how much the signals changed, the more of both kinds of turn, and
// how many turns failed.
func (v verdict) seen() string {
	var out []string
	if v.failed > 0.005 {
		out = append(out, fmt.Sprintf("%.0f %% fail", 100*v.failed))
	}
	for _, signal := range []string{"ttft", "tpot"} {
		most := 0.0
		for key, ratio := range maps.All(v.ratios) {
			if strings.HasSuffix(key, signal) {
				most = max(most, ratio)
			}
		}
		if most > 0 {
			out = append(out, strings.ToUpper(signal)+" × "+times(most))
		}
	}
	return strings.Join(out, ", ")
}

// times is a ratio with the digits that it deserves.
func times(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}

// TestQualityPage checks how times to page are written.
func TestQualityPage(t *testing.T) {
	at := func(after ...time.Duration) []page {
		var out []page
		for _, d := range after {
			out = append(out, page{alert: "SyntheticRegression", signal: "ttft", part: "queue_prefill", first: pause + d})
		}
		return out
	}
	v := verdict{
		trial:  trial{name: "slow", wants: []want{{alert: "SyntheticRegression", part: "queue_prefill"}}},
		ratios: map[string]float64{"first ttft": 12.4, "followup ttft": 3, "first tpot": 1.018}, failed: 0.2,
		paged: at(0, 0, 0), told: [][]page{at(time.Minute, 90*time.Second, 55*time.Second)}, bound: 4 * time.Minute,
	}
	const want = "20 % fail, TTFT × 12, TPOT × 1.02 | 4m | Regression (ttft) before | Regression (ttft) 1m – 1m30s | `queue_prefill`"
	if got := v.cells(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := spread(at(time.Minute, time.Minute)); got != "1m" {
		t.Errorf("a page after a minute, twice, is %q", got)
	}
}
