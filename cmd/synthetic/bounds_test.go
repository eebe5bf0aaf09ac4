//go:build !race

// The race detector takes several times the memory and the CPU that this file bounds.

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestConfigurationsWithinBounds judges files of up to 4 MiB. Each takes at most 1 s of CPU on a quiet core, and
// 128 MB; docs/background/performance.md has the numbers. A busy machine was seen to charge six times the CPU, so
// the test allows 30 s: it finds work that grows with the square of the file, and nothing finer.
func TestConfigurationsWithinBounds(t *testing.T) {
	const target = "targets: [{base_url: 'http://a'}]\n"
	numbered := func(format string, n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, format+"\n", i)
		}
		return text.String()
	}
	filled := func(before, unit, after string) string {
		return before + strings.Repeat(unit, (4<<20-len(before)-len(after))/len(unit)) + after
	}
	targets := func(n int) string {
		return "targets:\n" + numbered("- {name: t%d, base_url: 'http://a', model: llama}", n)
	}
	const divide = "run several processes, each with a part of the targets (docs/how-to/run-shards.md)"
	files := map[string]struct{ text, want string }{
		"5000 targets":      {targets(5000), "ok (5000 targets"},
		"5001 targets":      {targets(5001), "targets: has 5001 items: keep 5000 at most"},
		"too many pairs":    {targets(5000) + "workloads: [{name: a}, {name: b}]\n", "traffic: has 10000 pairs of a workload and a target, more than 5000: " + divide},
		"many mistakes":     {"targets:\n" + numbered("- {name: t%d, base_ulr: 'http://a', modell: llama}", 5000), "and 14980 more: correct these first"},
		"a long line":       {filled(target+"workloads: [{system: '", "Hello. ", "'}]\n"), "ok (1 target"},
		"broken at the end": {"targets:\n" + strings.Repeat("- {base_url: x}\n", 41_000) + " ]]\n", "is not YAML"},
		"SLOs of all jobs":  {targets(5000) + "slos:\n" + numbered("- {name: s%d, sli: ttft, threshold: 1s, objective: 99%%}", 1000), "slos: cover 5000000 jobs together, more than 100000"},
		"changes of all":    {targets(5000) + "changes:\n" + strings.Repeat("- {weekly: sunday 02:00 2h}\n", 1000), "changes: cover 5000000 jobs together, more than 100000"},
		"repeated traffic":  {targets(5000) + "traffic:\n" + strings.Repeat("- {}\n", 5000), "and 4979 more"},
	}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		tt := files[name]
		t.Run(name, func(t *testing.T) {
			if testing.Short() && i%4 != 0 {
				t.Skip("one in four is enough for a quick run; make test-long runs all")
			}
			file := filepath.Join(t.TempDir(), "synthetic.yml")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GOGC", fmt.Sprint(gcPercent))
			stdout, stderr, mib, cpu, _ := tryMeasured(t, "check", file)
			t.Logf("%.1f MB: %v of CPU, %d MB", float64(len(tt.text))/(1<<20), cpu.Round(10*time.Millisecond), mib)
			if !strings.Contains(stdout+stderr, tt.want) || strings.Count(stderr, "\n") > 25 {
				t.Errorf("got %.300q %.3000q, want %q", stdout, stderr, tt.want)
			}
			if cpu > 30*time.Second || mib > 145 {
				t.Errorf("%v of CPU and %d MB", cpu, mib)
			}
		})
	}
}
