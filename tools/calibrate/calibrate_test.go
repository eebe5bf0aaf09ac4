package main

import (
	"slices"
	"testing"

	"synthetic/internal/fleet"
	"synthetic/internal/simulate/cluster"
)

func TestReports(t *testing.T) {
	all, err := reports()
	if err != nil {
		t.Fatal(err)
	}
	levels := map[string]int{}
	for _, r := range all {
		plan, err := loadPlan(root, r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Series {
			var loads []float64
			for _, l := range s.Levels {
				loads = append(loads, l["load"])
			}
			if !slices.Equal(loads, plan.Levels) {
				t.Errorf("report %q, %q has the loads %v, its plan %v", r.Name, s.Preset, loads, plan.Levels)
			}
			if !slices.ContainsFunc(plan.Variants, func(v fleet.Variant) bool { return v.Preset == s.Preset }) {
				t.Errorf("plan %q has no variant of preset %q", r.Plan, s.Preset)
			}
			if _, err := cluster.Preset(s.Preset); err != nil {
				t.Errorf("report %q: %v", r.Name, err)
			}
			levels[r.Name+" "+s.Preset] = len(s.Levels)
			for i, l := range s.Levels {
				if i > 0 && l["load"] <= s.Levels[i-1]["load"] {
					t.Errorf("report %q, %q: load %v after %v", r.Name, s.Preset, l["load"], s.Levels[i-1]["load"])
				}
				if l.get("tpot_p95_ms") < l.get("tpot_p50_ms") || l.get("ttft_p95_ms") < l.get("ttft_p50_ms") {
					t.Errorf("report %q, %q at %v: a 95th percentile is below the median", r.Name, s.Preset, l["load"])
				}
			}
		}
	}
	want := map[string]int{
		"phase0 phase0": 8, "eagle3 eagle3": 12, "trtllm trtllm-rr": 9, "trtllm trtllm-kv": 9,
		"trtllm-near-full trtllm-kv": 3, "bench bench-phase0": 8, "bench bench-eagle3": 8,
	}
	for name, n := range want {
		if levels[name] != n {
			t.Errorf("%s has %d levels, want %d", name, levels[name], n)
		}
	}
}

func TestAims(t *testing.T) {
	tail := target{"ttft_p95_ms", "", .2}
	for _, c := range []struct {
		cell
		met bool
	}{
		{cell{target: tail, reported: 500, model: 590}, true},
		{cell{target: tail, reported: 500, model: 610}, false},
		{cell{target: target{"hit_pct", "", .05}, reported: 90, model: 94.9}, true},
		{cell{target: target{"hit_pct", "", .05}, reported: 90, model: 84.9}, false},
		{cell{target: tail, preset: "trtllm-kv", load: 180, reported: 4500, model: 3001}, true},
		{cell{target: tail, preset: "trtllm-kv", load: 180, reported: 4500, model: 2999}, false},
	} {
		if c.cell.met() != c.met {
			t.Errorf("%+v: met is %v", c.cell, !c.met)
		}
	}
}

func TestAverage(t *testing.T) {
	if mean := average([]level{{"load": 40, "hit_pct": 90}, {"load": 40, "hit_pct": 94}}); mean["hit_pct"] != 92 || mean["load"] != 40 {
		t.Errorf("mean %v", mean)
	}
}

// TestRunsThatCount: as in the report with repetitions, runs with many errors are left out, unless all have them.
func TestRunsThatCount(t *testing.T) {
	for _, c := range []struct {
		leavesOut bool
		errors    []float64
		want      int
	}{
		{true, []float64{0, 5, 5.1}, 2}, {true, []float64{6, 7, 8}, 3}, {false, []float64{0, 5, 5.1}, 3},
	} {
		p := played{leavesOut: c.leavesOut}
		for _, pct := range c.errors {
			p.runs = append(p.runs, []level{{"error_pct": pct}})
		}
		if got := len(p.counted(0)); got != c.want {
			t.Errorf("%+v: %d runs count", c, got)
		}
	}
}
