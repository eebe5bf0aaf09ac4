package main

import (
	"fmt"
	"strings"
)

// seriesCSV has all figures of every series, from the report and from the model.
func seriesCSV(runs []played) string {
	var b strings.Builder
	b.WriteString("report,preset,load,figure,reported,model,off\n")
	for _, p := range runs {
		if p.report == "none" {
			continue
		}
		for i, l := range p.Levels {
			for _, f := range figures() {
				want, got := l.get(f.name), p.model[i].get(f.name)
				if !has(p.Levels, f.name) {
					continue
				}
				fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%s,%s\n", p.report, p.Preset, number(l["load"], digitsOf(l["load"])),
					f.title, number(want, f.digits), number(got, f.digits), apart(f.name, want, got))
			}
		}
	}
	return b.String()
}

// routing compares KV-aware with round-robin routing.
func routing(runs []played) string {
	rr, kv := find(runs, "trtllm", "trtllm-rr"), find(runs, "trtllm", "trtllm-kv")
	t := table{{"load", "TTFT p50", "model", "TTFT p95", "model", "TPOT p50", "model", "tokens/s", "model", "hit rate (points)", "model"}}
	for i, l := range rr.Levels {
		row := []string{number(l["load"], 0)}
		for _, name := range []string{"ttft_p50_ms", "ttft_p95_ms", "tpot_p50_ms", "tokens_per_s", "hit_pct"} {
			for _, pair := range [][2][]level{{rr.Levels, kv.Levels}, {rr.model, kv.model}} {
				a, b := pair[0][i][name], pair[1][i][name]
				if name == "hit_pct" {
					row = append(row, fmt.Sprintf("%+.1f", b-a))
					continue
				}
				row = append(row, percent(b/a-1))
			}
		}
		t = append(t, row)
	}
	return t.String()
}

// drafting compares the deployments with and without a drafter.
func drafting(runs []played) string {
	plain, draft := find(runs, "phase0", "phase0"), find(runs, "eagle3", "eagle3")
	t := table{{"load", "TPOT p50", "model", "TTFT p50", "model"}}
	for i, l := range plain.Levels {
		row := []string{number(l["load"], 0)}
		for _, name := range []string{"tpot_p50_ms", "ttft_p50_ms"} {
			row = append(row, times(draft.Levels[i][name]/l[name]), times(draft.model[i][name]/plain.model[i][name]))
		}
		t = append(t, row)
	}
	return t.String() + "\n" + knees(plain, draft)
}

// times renders a ratio.
func times(v float64) string { return fmt.Sprintf("× %.3g", v) }

// knees compares the points of saturation.
func knees(plain, draft played) string {
	first := func(levels []level, is func(level) bool) string {
		for _, l := range levels {
			if is(l) {
				return number(l["load"], 0)
			}
		}
		return "none"
	}
	t := table{{"saturation", "phase0", "model", "eagle3", "model"}}
	for _, c := range []struct {
		name string
		is   func(level) bool
	}{
		{"first TTFT p50 > 1 s", func(l level) bool { return l.get("ttft_p50_ms") > saturated }},
		{"first error above 1 %", func(l level) bool { return l.get("error_pct") > 1 }},
		{"first above 5 % errors", func(l level) bool { return l.get("error_pct") > 5 }},
	} {
		row := []string{c.name}
		for _, levels := range [][]level{plain.Levels, plain.model, draft.Levels, draft.model} {
			row = append(row, first(levels, c.is))
		}
		t = append(t, row)
	}
	last := func(levels []level) string { return number(levels[len(levels)-1]["tpot_p50_ms"], 0) + " ms" }
	return append(t, []string{"TPOT p50 at the last level", last(plain.Levels), last(plain.model), last(draft.Levels), last(draft.model)}).String()
}

// sloMatrix shows which rates keep TTFT p99 under 1 s and TPOT p99 under 60 ms.
func sloMatrix(runs []played) string {
	plain, draft := find(runs, "bench", "bench-phase0"), find(runs, "bench", "bench-eagle3")
	t := table{{"rate", "bench-phase0", "model", "bench-eagle3", "model"}}
	all := [][]level{plain.Levels, plain.model, draft.Levels, draft.model}
	best := []string{"best rate that passes", "none", "none", "none", "none"}
	for i, l := range plain.Levels {
		row := []string{number(l["load"], 2)}
		for j, levels := range all {
			v := verdict(levels[i])
			row = append(row, v)
			if v == "PASS" {
				best[j+1] = number(l["load"], 2)
			}
		}
		t = append(t, row)
	}
	return append(t, best).String()
}

// verdict judges one rate.
func verdict(l level) string {
	var missed []string
	if !(l.get("ttft_p99_ms") < 1000) {
		missed = append(missed, "TTFT")
	}
	if !(l.get("tpot_p99_ms") < 60) {
		missed = append(missed, "TPOT")
	}
	if len(missed) == 0 {
		return "PASS"
	}
	return "FAIL (" + strings.Join(missed, "+") + ")"
}

// nearFull compares the model with both routers with the measurements between the last
// level of one report and that of the other. Spreads are between seeds.
func nearFull(runs []played) string {
	rr, kv := find(runs, "none", "trtllm-rr"), find(runs, "none", "trtllm-kv")
	t := table{{"load", "router", "tokens/s", "model", "TPOT p50 (ms)", "model", "TTFT p50 (ms)", "model", "TTFT p95 (ms)", "model"}}
	for i, l := range kv.Levels {
		for _, p := range []played{rr, kv} {
			want := measured(runs, p.Preset, l["load"])
			row := []string{number(l["load"], 0), strings.TrimPrefix(p.Preset, "trtllm-")}
			for _, f := range []figure{{"tokens_per_s", "", 0}, {"tpot_p50_ms", "", 1}, {"ttft_p50_ms", "", 0}, {"ttft_p95_ms", "", 0}} {
				row = append(row, orDash(want.get(f.name), f.digits), number(p.model[i][f.name], f.digits)+" ± "+number(p.spread[i][f.name], f.digits))
			}
			t = append(t, row)
		}
	}
	return t.String() + "\n" + advantage(runs, rr, kv)
}

// advantage is how many more tokens KV-aware routing gives than round-robin.
func advantage(runs []played, rr, kv played) string {
	t := table{{"load"}, {"measured"}, {"model"}}
	for i, l := range kv.Levels {
		t[0] = append(t[0], number(l["load"], 0))
		more := func(kv, rr level) string { return percent(kv.get("tokens_per_s")/rr.get("tokens_per_s") - 1) }
		t[1] = append(t[1], more(measured(runs, kv.Preset, l["load"]), measured(runs, rr.Preset, l["load"])))
		t[2] = append(t[2], more(kv.model[i], rr.model[i]))
	}
	return t.String()
}

// measured returns the figures of a preset at a load; empty if no report has them.
func measured(runs []played, preset string, load float64) level {
	for _, p := range runs {
		for _, l := range p.Levels {
			if p.report != "none" && p.Preset == preset && l["load"] == load {
				return l
			}
		}
	}
	return nil
}
