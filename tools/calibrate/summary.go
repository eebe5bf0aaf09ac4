package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// row is a line of the fit summary.
type row struct {
	what, where string
	levels      int
	mean        float64 // mean absolute error, as a share
	worst       string
	missed      []string
}

// summarize compares the model with its targets.
func summarize(runs []played) []row {
	var rows []row
	for _, p := range runs {
		for _, t := range targets() {
			if r, ok := judge(p, t); ok {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// judge compares a series with a target. It returns false if the target does not apply.
func judge(p played, t target) (row, bool) {
	r := row{what: title(t.name), where: fmt.Sprintf("`%s` %s", p.Preset, span(p.Levels))}
	knee, sum, largest := saturation(p.Levels), 0.0, -1.0
	for i, l := range p.Levels {
		want := l.get(t.name)
		if math.IsNaN(want) || l.get("error_pct") > 0 || t.below && i >= knee {
			continue
		}
		d := off(l, p.model[i], t.name)
		load := number(l["load"], digitsOf(l["load"]))
		r.levels++
		sum += math.Abs(d)
		if math.Abs(d) > largest {
			largest, r.worst = math.Abs(d), fmt.Sprintf("%s at %s", percent(d), load)
		}
		if math.Abs(d) > t.within {
			r.missed = append(r.missed, fmt.Sprintf("%s (%s)", load, percent(d)))
		}
	}
	r.mean = sum / float64(r.levels)
	if t.mean > 0 && r.mean > t.mean {
		r.missed = append(r.missed, fmt.Sprintf("mean (%.0f %%)", r.mean*100))
	}
	return r, r.levels > 0
}

// span renders the range of loads of a series.
func span(levels []level) string {
	first, last := levels[0]["load"], levels[len(levels)-1]["load"]
	return number(first, digitsOf(first)) + "–" + number(last, digitsOf(last))
}

// summary renders the fit summary: a row for each series, followed by the other checks.
func summary(runs []played) string {
	head, bounds := []string{"series"}, []string{}
	for _, t := range targets() {
		head, bounds = append(head, title(t.name)), append(bounds, t.title())
	}
	t := table{head}
	for _, r := range summarize(runs) {
		if last := t[len(t)-1]; last[0] != r.where {
			t = append(t, append([]string{r.where}, make([]string, len(head)-1)...))
		}
		cell := fmt.Sprintf("%.1f %% (%s; %d)", r.mean*100, r.worst, r.levels)
		if len(r.missed) > 0 {
			cell += "; missed " + orNone(r.missed)
		}
		t[len(t)-1][slices.Index(head, r.what)] = cell
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Bounds: %s. Below: the mean (the worst; number of levels).\n\n%s\nMissed of the other targets:\n\n", strings.Join(bounds, "; "), t)
	for _, c := range checks(runs) {
		fmt.Fprintf(&b, "- %s, %s, %d levels: %s\n", c.what, c.where, c.levels, orNone(c.missed))
	}
	return b.String()
}

func orNone(missed []string) string {
	if len(missed) == 0 {
		return "–"
	}
	return "**" + strings.Join(missed, ", ") + "**"
}

// checks compares the model with the targets that are not an error of one figure.
func checks(runs []played) []row {
	var rows []row
	for _, name := range []string{"phase0", "eagle3"} {
		p := find(runs, name, name)
		r := row{what: "saturation at the same level or one beside", where: "`" + name + "`", levels: 1}
		if want, got := saturation(p.Levels), saturation(p.model); want-got > 1 || got-want > 1 || got == len(p.Levels) {
			r.missed = append(r.missed, fmt.Sprintf("model at level %d, report at %d", got+1, want+1))
		}
		rows = append(rows, r)
	}
	rows = append(rows, signs(runs)...)
	return append(rows, spike(runs))
}

// signs checks whether KV-aware routing increases or decreases the same figures.
func signs(runs []played) []row {
	rr, kv := find(runs, "trtllm", "trtllm-rr"), find(runs, "trtllm", "trtllm-kv")
	var rows []row
	for _, name := range []string{"tokens_per_s", "tpot_p50_ms", "hit_pct"} {
		r := row{what: "sign of KV-aware against round-robin: " + title(name), where: "`trtllm-*` " + span(rr.Levels), levels: len(rr.Levels)}
		for i, l := range rr.Levels {
			if (kv.Levels[i][name] > l[name]) != (kv.model[i][name] > rr.model[i][name]) {
				r.missed = append(r.missed, number(l["load"], 0))
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// title returns the title of a figure.
func title(name string) string {
	all := figures()
	return all[slices.IndexFunc(all, func(f figure) bool { return f.name == name })].title
}

// spike checks that KV-aware routing makes some turns wait for seconds when the load is
// near workers × batch, and not below.
func spike(runs []played) row {
	p := find(runs, "trtllm-near-full", "trtllm-kv")
	r := row{what: "TTFT p95 over 1 s where the report has it", where: "`trtllm-kv` " + span(p.Levels), levels: len(p.Levels)}
	for i, l := range p.Levels {
		if (l["ttft_p95_ms"] > saturated) != (p.model[i]["ttft_p95_ms"] > saturated) {
			r.missed = append(r.missed, number(l["load"], 0))
		}
	}
	return r
}
