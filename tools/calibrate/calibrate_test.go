package main

import (
	"math"
	"strings"
	"testing"

	"synthetic/internal/simulate/cluster"
)

func TestReports(t *testing.T) {
	all, err := reports()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"load": true}
	for _, f := range figures() {
		known[f.name] = true
	}
	levels := map[string]int{}
	for _, r := range all {
		for _, s := range r.Series {
			if _, err := cluster.Preset(s.Preset); err != nil {
				t.Errorf("report %q: %v", r.Name, err)
			}
			levels[r.Name+" "+s.Preset] = len(s.Levels)
			for i, l := range s.Levels {
				if i > 0 && l["load"] <= s.Levels[i-1]["load"] {
					t.Errorf("report %q, %q: load %v after %v", r.Name, s.Preset, l["load"], s.Levels[i-1]["load"])
				}
				for name := range l {
					if !known[name] {
						t.Errorf("report %q: figure %q is unknown", r.Name, name)
					}
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

func TestJudge(t *testing.T) {
	p := played{series: series{Preset: "x", Levels: []level{
		{"load": 10, "ttft_p50_ms": 100}, {"load": 20, "ttft_p50_ms": 100},
		{"load": 30, "ttft_p50_ms": 100, "error_pct": 5}, {"load": 40, "ttft_p50_ms": 2000},
	}}, model: []level{{"ttft_p50_ms": 110}, {"ttft_p50_ms": 60}, {"ttft_p50_ms": 900}, {"ttft_p50_ms": 900}}}
	r, ok := judge(p, target{"ttft_p50_ms", .25, .2, true})
	if !ok || r.levels != 2 || r.worst != "-40 % at 20" || math.Abs(r.mean-.25) > 1e-9 {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(r.missed, ", "); got != "20 (-40 %), mean (25 %)" {
		t.Errorf("missed %s", got)
	}
	if _, ok := judge(p, target{"tokens_per_s", .12, 0, false}); ok {
		t.Error("judged a figure that the report does not have")
	}
}

func TestAverage(t *testing.T) {
	if mean := average([][]level{{{"load": 40, "hit_pct": 90}}, {{"load": 40, "hit_pct": 94}}}); mean[0]["hit_pct"] != 92 || mean[0]["load"] != 40 {
		t.Errorf("mean %v", mean)
	}
}
