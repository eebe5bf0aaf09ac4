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

// qualityPage is the content of bin/demo-quality.md.
type qualityPage struct {
	levels []levelRow
	faults []verdict
}

// levelRow is a level of the reports and its result in the demo.
type levelRow struct {
	change
	verdict verdict
}

func (p qualityPage) markdown() []byte {
	var out bytes.Buffer
	page := template.Must(template.New("").Parse(qualityTemplate))
	err := page.Execute(&out, map[string]any{"Levels": p.levelTable(), "Faults": p.faultTable(), "Seeds": trialSeeds})
	if err != nil {
		panic(err) // the template is part of the test
	}
	return out.Bytes()
}

func (p qualityPage) levelTable() string {
	var b strings.Builder
	b.WriteString("| In flight | TTFT p50 in the reports | TPOT p50 in the reports | In the demo | Bound | First page | Regression page | Likely part |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range p.levels {
		fmt.Fprintf(&b, "| %d | %.0f → %.0f ms, × %s | %.0f → %.0f ms, × %s | %s |\n", r.level,
			r.ttftBefore, r.ttftAfter, formatRatio(r.ttftAfter/r.ttftBefore), r.tpotBefore, r.tpotAfter, formatRatio(r.tpotAfter/r.tpotBefore),
			r.verdict.cells())
	}
	return b.String()
}

func (p qualityPage) faultTable() string {
	var b strings.Builder
	b.WriteString("| Fault | What a client sees | Bound | First page | Alerts | Likely part |\n|---|---|---|---|---|---|\n")
	for _, v := range p.faults {
		name := v.name
		if strings.HasPrefix(v.target.Baseline, "trtllm") {
			name += " (one of three)"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, v.cells())
	}
	return b.String()
}

// cells returns the cells of a row: the changes, the bounds, the first page, the wanted alerts, and the
// parts that they named.
func (v verdict) cells() string {
	var alerts, bounds, parts []string
	for i, w := range v.wants {
		alert := v.found[i][0]
		alerts = append(alerts, strings.TrimPrefix(alert.alert, "Synthetic")+subject(alert)+" "+formatTimes(v.found[i]))
		bounds = append(bounds, slo.FormatDuration(w.bound(v.bound)))
		if w.part != "" {
			parts = append(parts, "`"+alert.part+"`")
		}
	}
	first := "none"
	if len(v.firstPages) > 0 {
		first = strings.TrimPrefix(v.firstPages[0].alert, "Synthetic") + subject(v.firstPages[0]) + " " + formatTimes(v.firstPages)
	}
	return strings.Join([]string{v.changes(), strings.Join(bounds, ", "), first, strings.Join(alerts, ", "), strings.Join(parts, ", ")}, " | ")
}

// subject returns the signal or the objective of an alert.
func subject(g page) string {
	if g.signal+g.slo == "" {
		return ""
	}
	return " (" + g.signal + g.slo + ")"
}

// formatTimes formats the median and the slowest time from the fault to an alert. An alert at the
// time of the fault has another cause.
func formatTimes(pages []page) string {
	var times []time.Duration
	for _, g := range pages {
		times = append(times, g.first-pause)
	}
	slices.Sort(times)
	median, slowest := times[len(times)/2], times[len(times)-1]
	switch {
	case slowest == 0:
		return "before"
	case median == slowest:
		return slo.FormatDuration(median)
	}
	return slo.FormatDuration(median) + " – " + slo.FormatDuration(slowest)
}

// changes describes the share of failed turns and the ratios of the signals, each the larger of both
// kinds of turn.
func (v verdict) changes() string {
	var out []string
	if v.failed > 0.005 {
		out = append(out, fmt.Sprintf("%.0f %% fail", 100*v.failed))
	}
	for _, signal := range []string{"ttft", "tpot"} {
		largest := 0.0
		for key, ratio := range maps.All(v.ratios) {
			if strings.HasSuffix(key, signal) {
				largest = max(largest, ratio)
			}
		}
		if largest > 0 {
			out = append(out, strings.ToUpper(signal)+" × "+formatRatio(largest))
		}
	}
	return strings.Join(out, ", ")
}

func formatRatio(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}

// TestQualityPage checks the format of times.
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
		firstPages: at(0, 0, 0), found: [][]page{at(time.Minute, 90*time.Second, 55*time.Second)}, bound: 4 * time.Minute,
	}
	const want = "20 % fail, TTFT × 12, TPOT × 1.02 | 4m | Regression (ttft) before | Regression (ttft) 1m – 1m30s | `queue_prefill`"
	if got := v.cells(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := formatTimes(at(time.Minute, time.Minute)); got != "1m" {
		t.Errorf("two alerts after a minute are %q", got)
	}
}
