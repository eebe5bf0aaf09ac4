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
		"5000 targets":       {targets(5000), "ok (5000 targets"},
		"5001 targets":       {targets(5001), "targets: has 5001 items, more than 5000: " + divide},
		"50000 targets":      {targets(50_000), "colons, commas and brackets, more than 125000, or 25 for each of 5000 list items: " + divide},
		"too many pairs":     {targets(5000) + "workloads: [{name: a}, {name: b}]\n", "traffic: has 10000 pairs of a workload and a target, more than 5000: " + divide},
		"many mistakes":      {"targets:\n" + numbered("- {name: t%d, base_ulr: 'http://a', modell: llama}", 5000), "and 9980 more: correct these first"},
		"unknown keys":       {numbered("key%d: 1", 120_000), "and 119981 more"},
		"a bomb of aliases":  {filled("a: &a x\ntargets:\n", "- *a\n", ""), "colons, commas and brackets"},
		"few aliases":        {"a: &a x\ntargets:\n" + strings.Repeat("- *a\n", 4999), "and 4980 more"},
		"deep nesting":       {filled("a: ", "[", ""), "colons, commas and brackets"},
		"deep and few":       {filled("a: "+strings.Repeat("[", 120_000), "x", ""), "exceeded max depth"},
		"a long line":        {filled(target+"workloads: [{system: '", "Hello. ", "'}]\n"), "ok (1 target"},
		"a long wrong value": {filled("targets: ", "k", "\n"), "is not a list"},
		"a long number":      {filled("discovery: [{name: a, lease: 10m, max_targets: ", "9", "}]\n"), "is not a whole number"},
		"keys in brackets":   {target + "x: {" + strings.Repeat("a,", 124_000) + "}\n", "x: unknown key"},
		"free values":        {"targets: [{base_url: 'http://a', extra_body: {" + numbered("a%d,", 124_000) + "}}]\n", "ok (1 target"},
		"directives":         {numbered("%%TAG !%d! tag:x", 120_000) + "---\n" + target, "has 120000 %TAG directives, more than 100"},
		"names like others":  {"targets:\n" + numbered("- {name: "+strings.Repeat("n", 58)+"%04d, base_url: 'http://a'}", 5000) + "slos:\n" + numbered("- {sli: ttft, threshold: 1s, objective: 99%%, targets: ["+strings.Repeat("m", 60)+"%03d]}", 900), "and 1779 more"},
		"comments":           {target + strings.Repeat("#x\n", 120_000), "ok (1 target"},
		"broken at the end":  {"targets:\n" + strings.Repeat("- {base_url: x}\n", 41_000) + " ]]\n", "is not YAML"},
		"an unclosed list":   {"a: [\n" + strings.Repeat("x,\n", 124_000), "is not YAML"},
		"a large expression": {target + "workloads: [{check: '" + strings.Repeat("(a{1000})", 90) + "'}]\n", "ok (1 target"},
		"large expressions":  {target + "workloads:\n" + numbered("- {name: w%d, check: '"+strings.Repeat("(a{1000})", 111)+"'}", 100), "takes too long to check"},
		"a large schema":     {target + "workloads: [{response_schema: {type: object, properties: {" + numbered("p%d: {type: string},", 30_000) + "}}}]\n", "takes too long to check"},
		"large headers":      {"targets: [{base_url: 'http://a', http_client: {http_headers: {" + numbered("x-%d: {values: [a]},", 20_000) + "}}}]\n", "takes too long to check"},
		"relabellings":       {"discovery:\n" + strings.Repeat("- {name: a, lease: 10m, relabel_configs: ["+strings.Repeat("{target_label: a, regex: '(a{1000})'},", 100)+"]}\n", 100), "takes too long to check"},
		"SLOs of all jobs":   {targets(5000) + "slos:\n" + numbered("- {name: s%d, sli: ttft, threshold: 1s, objective: 99%%}", 1000), "slos: cover 5000000 jobs together, more than 100000"},
		"changes of all":     {targets(5000) + "changes:\n" + strings.Repeat("- {weekly: sunday 02:00 2h}\n", 1000), "changes: cover 5000000 jobs together, more than 100000"},
		"repeated traffic":   {targets(5000) + "traffic:\n" + strings.Repeat("- {}\n", 5000), "and 4979 more"},
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
