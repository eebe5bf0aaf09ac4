package main

import (
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"synthetic/tools/measured"
)

const root = "../../"

// TestDocIsFresh runs every plan with six seeds, in about a minute of CPU time.
func TestDocIsFresh(t *testing.T) {
	switch {
	case runtime.GOARCH != "amd64":
		// Other architectures fuse a multiplication with an addition. That shifts a step by
		// a nanosecond, and everything after it in a full queue.
		t.Skip("the files were written on amd64")
	case raceEnabled || testing.Short():
		t.Skip("takes long")
	}
	runs, err := play(root)
	if err != nil {
		t.Fatal(err)
	}
	have := read(t, root+page)
	want, err := measured.Replaced(have, summaryPart, summary(runs))
	if err != nil {
		t.Fatal(err)
	}
	fresh(t, page, have, want)
	holdBounds(t, runs)
}

// holdBounds checks every figure against its aim, or against the bound of its series.
func holdBounds(t *testing.T, runs []played) {
	t.Helper()
	missed := bounds()
	for _, p := range runs {
		for _, c := range cells(p) {
			bound, ok := missed[c.report+" "+c.preset+" "+c.name]
			if !c.met() && !ok || ok && math.Abs(c.off()) > bound {
				t.Errorf("%s, %s at %v: %s, off by more than %.2f", c.preset, c.name, c.load, c, max(c.aim, bound))
			}
		}
	}
}

// bounds returns the largest error of the series that miss an aim, in the unit of the aim.
func bounds() map[string]float64 {
	return map[string]float64{
		"bench bench-eagle3 itl_p50_ms":          0.10,
		"bench bench-eagle3 ttft_p99_ms":         0.83,
		"bench bench-phase0 tokens_per_s":        0.12,
		"bench bench-phase0 tpot_p50_ms":         0.15,
		"eagle3 eagle3 tpot_p50_ms":              0.07,
		"eagle3 eagle3 ttft_p50_ms":              0.19,
		"eagle3 eagle3 ttft_p95_ms":              0.34,
		"phase0 phase0 tpot_p50_ms":              0.13,
		"phase0 phase0 ttft_p50_ms":              3.46,
		"phase0 phase0 ttft_p95_ms":              9.10,
		"trtllm trtllm-kv ttft_p50_ms":           0.13,
		"trtllm trtllm-rr hit_pct":               0.15,
		"trtllm trtllm-rr tpot_p50_ms":           0.07,
		"trtllm trtllm-rr ttft_p50_ms":           0.12,
		"trtllm-near-full trtllm-kv tpot_p50_ms": 0.09,
		"trtllm-near-full trtllm-kv ttft_p50_ms": 0.17,
		"trtllm-near-full trtllm-kv ttft_p95_ms": 0.29,
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fresh fails with the first line of a file that differs.
func fresh(t *testing.T, name, have, want string) {
	t.Helper()
	if have == want {
		return
	}
	was, is := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Fatalf("%s is stale: run \"make calibrate\"\nline %d has  %s\nit should be %s", name, i+1, was[i], is[i])
		}
	}
	t.Fatalf("%s is stale: run \"make calibrate\"", name)
}
