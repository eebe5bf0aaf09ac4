package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synthetic/internal/fleet"
	"synthetic/internal/sketch"
	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

// sweepFile writes a run with a change and returns its path.
func sweepFile(t *testing.T, name string, change func(*runs.Run)) string {
	t.Helper()
	r := reporttest.Run(reporttest.Options{Seed: 1, Levels: []float64{40, 80, 100}})
	if change != nil {
		change(r)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := runs.Write(path, r); err != nil {
		t.Fatal(err)
	}
	return path
}

// reportOn runs "synthetic report" and returns its exit code and outputs.
func reportOn(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	out, errs := newBuffer(), newBuffer()
	code = run(t.Context(), append([]string{"report"}, args...), out, errs)
	return code, out.String(), errs.String()
}

func TestReportRender(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := reportOn(t, "render", sweepFile(t, "run.json", nil), "--output.dir="+dir)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, name := range []string{"report.md", "report.html", "report.json", "ttft.svg", "tpot.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil || !strings.Contains(stdout, "wrote "+filepath.Join(dir, name)) {
			t.Errorf("%s: %v, said %q", name, err, stdout)
		}
	}
	again := t.TempDir()
	if code, _, stderr := reportOn(t, "render", filepath.Join(dir, "report.md"), "--output.dir="+again); code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	// Without a directory, the Markdown is on standard output.
	code, stdout, _ = reportOn(t, "render", filepath.Dir(sweepFile(t, "run.json", nil)))
	if code != exitOK || !strings.HasPrefix(stdout, "# A sweep of the model\n") {
		t.Errorf("exit code %d, output %.60q", code, stdout)
	}
}

func TestReportCompare(t *testing.T) {
	slower := sweepFile(t, "slow.json", func(r *runs.Run) {
		*r = *reporttest.Run(reporttest.Options{Seed: 2, Levels: []float64{40, 80, 100}, Variants: []reporttest.Variant{{Name: "default", Slowdown: 1.8}}})
	})
	code, stdout, stderr := reportOn(t, "compare", "main="+sweepFile(t, "a.json", nil), slower)
	if code != exitOK || !strings.Contains(stdout, "# Benchmark Sweep: slow vs main Concurrency Scaling (40-100)\n") || !strings.Contains(stdout, "**slow is worse than main: ") || !strings.Contains(stdout, "| TTFT p50 Change |") {
		t.Errorf("exit code %d: %s\n%.900s", code, stderr, stdout)
	}
}

// TestMergeOfRepetitions: repeated runs of a plan are pooled.
func TestMergeOfRepetitions(t *testing.T) {
	a := sweepFile(t, "a.json", nil)
	b := sweepFile(t, "b.json", func(r *runs.Run) {
		*r = *reporttest.Run(reporttest.Options{Seed: 2, Levels: []float64{40, 80, 100}})
	})
	dir := filepath.Join(t.TempDir(), "all")
	code, stdout, stderr := reportOn(t, "merge", a, b, "--output.dir="+dir)
	page, err := os.ReadFile(filepath.Join(dir, "report", "report.md"))
	if code != exitOK || err != nil || !strings.Contains(string(page), "| Repetitions | 2, pooled") {
		t.Errorf("exit code %d, %v: %s\n%.900s", code, err, stderr, stdout)
	}
}

func TestReportGate(t *testing.T) {
	path, dir := sweepFile(t, "a.json", nil), t.TempDir()
	code, stdout, _ := reportOn(t, "render", path, "--fail-on=ttft_p99@100>100ms", "--output.dir="+dir)
	if code != exitFailure || !strings.Contains(stdout, "### Performance gate **failed**") || !strings.Contains(stdout, "`ttft_p99@100>100ms`") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
	if _, err := os.Stat(filepath.Join(dir, "gate.md")); err != nil {
		t.Error(err)
	}
	code, stdout, _ = reportOn(t, "render", path, "--fail-on=ttft_p99@40>1s,capacity<80")
	if code != exitOK || !strings.Contains(stdout, "### Performance gate passed") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

// TestReportGateOfALateProber: figures that the prober's own lateness distorts are
// inconclusive, whatever their values.
func TestReportGateOfALateProber(t *testing.T) {
	late := func(name string) string {
		return sweepFile(t, name, func(r *runs.Run) {
			for _, result := range r.Results {
				for _, s := range result.Snapshots {
					for i := range s.Blocks {
						var lag sketch.Sketch
						for range 100 {
							lag.Add(9.3)
						}
						s.Blocks[i].AddedTTFT = &lag
						for name, judged := range s.Blocks[i].SLOs {
							judged.Late = judged.Good
							s.Blocks[i].SLOs[name] = judged
						}
					}
				}
			}
		})
	}
	code, stdout, _ := reportOn(t, "compare", late("a.json"), late("b.json"), "--fail-on=ttft_p99>10s,capacity<baseline*0.9")
	if code != exitInconclusive || !strings.Contains(stdout, "### Performance gate **inconclusive**") || strings.Contains(stdout, "✅") || !strings.Contains(stdout, "| ❔ | `capacity<baseline*0.9` |") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
	if _, stdout, _ = reportOn(t, "compare", late("a.json"), late("b.json")); !strings.Contains(stdout, "\n**Whether b is better than a cannot be told") || !strings.Contains(stdout, "in 1 turn of 100 the prober may have added 9300ms or more to TTFT p50") {
		t.Errorf("the report says\n%.900s", stdout)
	}
}

func TestReportForce(t *testing.T) {
	other := sweepFile(t, "work.json", func(r *runs.Run) { r.Workload.Parameters[1].Value = "100" })
	code, stdout, stderr := reportOn(t, "compare", "--force", sweepFile(t, "a.json", nil), other)
	if code != exitOK || !strings.Contains(stdout, "Compared with --force although the workloads of") {
		t.Errorf("exit code %d: %s\n%.600s", code, stderr, stdout)
	}
}

// TestReportMerge: the runs of two shards add up, with a report. A shard alone has no report.
func TestReportMerge(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "all")
	code, stdout, stderr := reportOn(t, "merge", shardFile(t, 0, 3), shardFile(t, 1, 2), "--output.dir="+dir)
	for _, want := range []string{
		"3 levels of 2 runs in ", "default, concurrency 100, repetition 1: lacks shards [1], so it is not judged\n", "the report is ",
	} {
		if code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, %q is missing in\n%s%s", code, want, stdout, stderr)
		}
	}
	if code, _, stderr = reportOn(t, "render", dir); code != exitOK {
		t.Errorf("exit code %d for the merged run: %s", code, stderr)
	}
}

// shardFile writes the levels of one of two shards and returns the path.
func shardFile(t *testing.T, index, levels int) string {
	t.Helper()
	return sweepFile(t, fmt.Sprintf("%d.json", index), func(r *runs.Run) {
		r.Shard, r.Results = fleet.Shard{Index: index, Count: 2}, r.Results[:levels]
		for i := range r.Results {
			r.Results[i].Verdict = &runs.LevelVerdict{Standing: runs.Undecided}
		}
	})
}
