package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
)

// TestReportOfAMillionTurns renders ten levels of 100,000 turns, of 100 gaps
// each, in at most 10 s of CPU and 300 MB.
func TestReportOfAMillionTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a million turns; make test-long runs it")
	}
	path := filepath.Join(t.TempDir(), "run.json")
	if err := runfile.Write(path, million()); err != nil {
		t.Fatal(err)
	}
	cmd, stdout, stderr := newProcess("report", "render", path)
	if err := cmd.Run(); err != nil || !strings.Contains(stdout.String(), "| 10 | ") {
		t.Fatalf("%v: %s", err, stderr)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu, memory := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), usage.Maxrss>>10
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s of CPU, %d MB, of a file of %d MB", cpu, memory, info.Size()>>20)
	if cpu > 10*time.Second || memory > 300 {
		t.Errorf("it took %s of CPU and %d MB", cpu, memory)
	}
}

// million is a run of ten levels of 30 blocks.
func million() *runfile.Run {
	run := reporttest.Run(reporttest.Options{Levels: []float64{1}})
	template := run.Results[0]
	run.Results = nil
	rng := rand.New(rand.NewPCG(1, 1))
	gaps := make([]time.Duration, 100)
	for level := range 10 {
		r := template
		r.Level = float64(level + 1)
		r.Snapshots = nil
		for range 3 {
			mean := r.Level
			s := runfile.Snapshot{Started: reporttest.Noon(), Seconds: 100, InFlightMean: &mean}
			for range 10 {
				b := runfile.Block{Seconds: 10}
				for i := range 3334 {
					first := time.Duration(rng.IntN(1e9))
					token := time.Duration(2e7 + rng.IntN(2e7))
					for i := range gaps {
						gaps[i] = token + time.Duration(rng.IntN(1e6))
					}
					b.Observe(probe.Result{
						Kind: probe.TurnKinds()[i%2], Outcome: probe.Success, Sent: reporttest.Noon(), End: reporttest.Noon().Add(first + 100*token),
						TTFT: probe.Some(first), AnswerTTFT: probe.Some(first), TPOT: probe.Some(token), Gaps: gaps, OutputTokens: probe.Some(101), Events: 101,
					}, reporttest.SLOs())
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
