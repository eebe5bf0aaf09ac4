package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
	"synthetic/tools/testkit/reporttest"
)

// shardDirs writes the directories of two shards. The clock of the second is a second
// ahead.
func shardDirs(t *testing.T) (dirs []string) {
	t.Helper()
	for i := range 2 {
		ahead := time.Duration(i) * time.Second
		r := reporttest.Run(reporttest.Options{Seed: uint64(i), Levels: []float64{40}})
		r.Seed, r.Shard = 5, &runfile.Shard{Index: i, Count: 2, OffsetSeconds: -ahead.Seconds(), ErrorSeconds: 0.0004}
		r.Results[0].Shift(ahead)
		for j := range r.Results[0].Snapshots {
			*r.Results[0].Snapshots[j].InFlightMean = 20
		}
		turn := turnlog.Turn{
			At: reporttest.Noon().Add(ahead), Target: "default", Workload: "chat", Kind: "first", Outcome: "success",
			Study: &turnlog.Study{Level: 40, Repetition: 1, Phase: turnlog.Measured, Conversation: fmt.Sprintf("c/%d", i), Index: 1},
		}
		dir := t.TempDir()
		if err := runfile.Write(filepath.Join(dir, "run.json"), r); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, runfile.TurnsFile), turn.Append(nil), 0o600); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

func TestReportMerge(t *testing.T) {
	dirs, output := shardDirs(t), filepath.Join(t.TempDir(), "whole")
	code, stdout, stderr := reportOn(t, "merge", dirs[1], dirs[0], "--output.dir="+output)
	if code != exitOK || !strings.Contains(stdout, "1 level of 2 shards in "+filepath.Join(output, "run.json")) {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(filepath.Join(output, "report", "report.md"))
	if err != nil || !strings.Contains(string(text), "2, by the clock of shard 0; offsets added to the other clocks: -1000.000 ± 0.400 ms") {
		t.Errorf("the report does not name the shards and their clocks: %v", err)
	}
	if code, _, stderr := reportOn(t, "render", output, "--slo=latency_p99<9s"); code != exitUsage || !strings.Contains(stderr, "it is not the log of this run.json") {
		t.Errorf("report --slo with turns of other runs: exit code %d, %s", code, stderr)
	}
	turns := reporttest.Turns(t, output)
	if len(turns) != 2 || !turns[0].At.Equal(reporttest.Noon()) || !turns[1].At.Equal(reporttest.Noon()) {
		t.Errorf("the turns are %+v", turns)
	}
}

func TestReportMergeRefuses(t *testing.T) {
	dirs := shardDirs(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"merge", dirs[0], "--output.dir=" + t.TempDir()}, "shard 1 of 2 is missing"},
		{[]string{"merge", dirs[0], dirs[1]}, "required flag(s) '--output.dir' not provided"},
		{[]string{"merge", dirs[0], dirs[1], "--output.dir=" + dirs[0]}, "is not empty"},
		{[]string{"merge", dirs[0], t.TempDir(), "--output.dir=" + t.TempDir()}, "a sweep writes it at its end"},
		{[]string{"average", dirs[0], dirs[1]}, "which carried only a part of the load; join all shards with report merge"},
		{[]string{"render", dirs[0]}, "with report merge"},
		{[]string{"compare", dirs[0], dirs[1]}, "with report merge"},
	} {
		if code, stdout, stderr := reportOn(t, tt.args...); code != exitUsage || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q: exit code %d, %q, want %q", tt.args, code, stderr, tt.want)
		}
	}
	if err := os.Remove(filepath.Join(dirs[1], runfile.TurnsFile)); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "whole")
	if code, _, stderr := reportOn(t, "merge", dirs[0], dirs[1], "--output.dir="+output); code != exitUsage || !strings.Contains(stderr, "the turns of shard 1 of 2") {
		t.Errorf("without turns: exit code %d, %s", code, stderr)
	}
	if left, _ := os.ReadDir(output); len(left) > 0 {
		t.Errorf("a refused merge left %s", left[0].Name())
	}
}
