package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
	"synthetic/tools/testkit/reporttest"
)

// TestReportOfAMillionTurns renders ten levels of 100,000 turns with 100 gaps each, in at
// most 10 s of CPU and 300 MB.
func TestReportOfAMillionTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a million turns; make test-long runs it")
	}
	path := filepath.Join(t.TempDir(), "run.json")
	if err := runfile.Write(path, million(1, 0, nil)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a file of %d MB", info.Size()>>20)
	if stdout := frugal(t, "report", "render", path); !strings.Contains(stdout, "| 10 | ") {
		t.Errorf("the report ends %.300q", stdout[max(len(stdout)-300, 0):])
	}
}

// TestMergeOfAMillionTurns merges the same turns from four shards and renders the result
// within the same limits.
func TestMergeOfAMillionTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a million turns; make test-long runs it")
	}
	root := t.TempDir()
	args := []string{"report", "merge", "--output.dir=" + filepath.Join(root, "whole")}
	for i := range 4 {
		dir := filepath.Join(root, fmt.Sprintf("shard-%d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(dir, runfile.TurnsFile))
		if err != nil {
			t.Fatal(err)
		}
		pack, err := turnlog.Compress(file)
		if err != nil {
			t.Fatal(err)
		}
		run := million(4, i, pack)
		run.Shard = &runfile.Shard{Index: i, Count: 4}
		for j := range run.Results { // the results differ by it
			run.Results[j].Ended = run.Results[j].Ended.Add(time.Duration(i))
		}
		if err := errors.Join(pack.Close(), file.Close(), runfile.Write(filepath.Join(dir, "run.json"), run)); err != nil {
			t.Fatal(err)
		}
		args = append(args, dir)
	}
	if stdout := frugal(t, args...); !strings.Contains(stdout, "10 levels of 4 shards") {
		t.Errorf("output %q", stdout)
	}
}

// frugal runs a command and limits it to 10 s of CPU and 300 MB.
func frugal(t *testing.T, args ...string) string {
	t.Helper()
	stdout, memory, cpu := measured(t, args...)
	t.Logf("%s of CPU, %d MB", cpu, memory)
	if cpu > 10*time.Second || memory > 300 {
		t.Errorf("the command took %s of CPU and %d MB", cpu, memory)
	}
	return stdout
}

// million returns a run of ten levels with 30 blocks each. With parts above 1 it is one
// shard and has a part of the turns. It writes the turns unless turns is nil.
func million(part, index int, turns io.Writer) *runfile.Run {
	run := reporttest.Run(reporttest.Options{Levels: []float64{1}})
	template := run.Results[0]
	run.Results = nil
	rng := rand.New(rand.NewPCG(1, uint64(index)))
	gaps := make([]time.Duration, 100)
	for level := range 10 {
		r := template
		r.Level = float64(level + 1)
		r.Snapshots = nil
		for range 3 {
			mean := r.Level / float64(part)
			s := runfile.Snapshot{Started: reporttest.Noon(), Seconds: 100, InFlightMean: &mean}
			for range 10 {
				b := runfile.Block{Seconds: 10}
				for i := range 3334 / part {
					first := time.Duration(rng.IntN(1e9))
					token := time.Duration(2e7 + rng.IntN(2e7))
					for i := range gaps {
						gaps[i] = token + time.Duration(rng.IntN(1e6))
					}
					x := probe.Result{
						Kind: probe.TurnKinds()[i%2], Outcome: probe.Success, Sent: reporttest.Noon(), End: reporttest.Noon().Add(first + 100*token),
						TTFT: probe.Some(first), AnswerTTFT: probe.Some(first), TPOT: probe.Some(token), Gaps: gaps, OutputTokens: probe.Some(101), Events: 101,
					}
					b.Observe(x, reporttest.SLOs())
					if turns != nil {
						line := turnlog.FromResult(x)
						line.Target, line.Workload, line.Study = "default", "chat", &turnlog.Study{Level: r.Level, Repetition: 1, Phase: turnlog.Measured, Conversation: "c/" + strconv.Itoa(rng.Int()), Index: 1}
						_, _ = turns.Write(line.Append(nil)) // Close returns the error
					}
				}
				s.Blocks = append(s.Blocks, b)
			}
			r.Snapshots = append(r.Snapshots, s)
		}
		run.Results = append(run.Results, r)
	}
	run.Title = fmt.Sprintf("%d turns", 10*3*10*3334)
	return run
}
