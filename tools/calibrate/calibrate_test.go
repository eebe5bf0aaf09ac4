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

func TestVerdict(t *testing.T) {
	for want, l := range map[string]level{
		"PASS":             {"ttft_p99_ms": 999, "tpot_p99_ms": 59.9},
		"FAIL (TTFT)":      {"ttft_p99_ms": 1000, "tpot_p99_ms": 10},
		"FAIL (TPOT)":      {"ttft_p99_ms": 10, "tpot_p99_ms": 60},
		"FAIL (TTFT+TPOT)": {},
	} {
		if got := verdict(l); got != want {
			t.Errorf("%v: %s, want %s", l, got, want)
		}
	}
}

func TestAverage(t *testing.T) {
	mean, spread := average([][]level{{{"load": 40, "hit_pct": 90}}, {{"load": 40, "hit_pct": 94}}})
	if mean[0]["hit_pct"] != 92 || math.Abs(spread[0]["hit_pct"]-math.Sqrt(8)) > 1e-9 || spread[0]["load"] != 0 {
		t.Errorf("mean %v, spread %v", mean, spread)
	}
}

func TestNearFull(t *testing.T) {
	levels := []level{{"load": 160}, {"load": 170}}
	model := func(tokens float64) []level {
		l := level{"tokens_per_s": tokens, "tpot_p50_ms": 50, "ttft_p50_ms": 400, "ttft_p95_ms": 800}
		return []level{l, l}
	}
	spread := level{"tokens_per_s": 10, "tpot_p50_ms": .25, "ttft_p50_ms": 4, "ttft_p95_ms": 80}
	near := func(preset string, tokens float64) played {
		return played{"none", series{Preset: preset, Levels: levels}, model(tokens), []level{spread, spread}}
	}
	want := `| load | router | tokens/s | model | TPOT p50 (ms) | model | TTFT p50 (ms) | model | TTFT p95 (ms) | model |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| 160 | rr | – | 3000 ± 10 | – | 50.0 ± 0.2 | – | 400 ± 4 | – | 800 ± 80 |
| 160 | kv | 3449 | 3300 ± 10 | 45.8 | 50.0 ± 0.2 | – | 400 ± 4 | – | 800 ± 80 |
| 170 | rr | – | 3000 ± 10 | – | 50.0 ± 0.2 | – | 400 ± 4 | – | 800 ± 80 |
| 170 | kv | – | 3300 ± 10 | – | 50.0 ± 0.2 | – | 400 ± 4 | – | 800 ± 80 |

| load | 160 | 170 |
|---:|---:|---:|
| measured | n/a | n/a |
| model | +10 % | +10 % |
`
	report := played{report: "x", series: series{Preset: "trtllm-kv", Levels: []level{{"load": 160, "tokens_per_s": 3449, "tpot_p50_ms": 45.8}}}}
	if got := nearFull([]played{report, near("trtllm-rr", 3000), near("trtllm-kv", 3300)}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
