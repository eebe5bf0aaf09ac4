package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/study/runs"
	"synthetic/tools/testkit/reporttest"
)

// TestReportOfAMillionTurns renders ten levels of 100,000 turns with 100 gaps each, in at
// most 10 s of CPU and 300 MB.
func TestReportOfAMillionTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a million turns; make test-long runs it")
	}
	path := filepath.Join(t.TempDir(), "run.json")
	if err := runs.Write(path, million()); err != nil {
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

// differentBlocks is how many blocks of a level differ. The others repeat them: a report takes as long with
// repeated blocks, and they need not be computed.
const differentBlocks = 3

// million returns a run of ten levels with 30 blocks each.
func million() *runs.Run {
	run := reporttest.Run(reporttest.Options{Levels: []float64{1}})
	template := run.Results[0]
	run.Results = nil
	rng := rand.New(rand.NewPCG(1, 0))
	for level := range 10 {
		r := template
		r.Level = float64(level + 1)
		r.Snapshots = nil
		var blocks []runs.Block
		for len(blocks) < differentBlocks {
			blocks = append(blocks, blockOf(3334, rng))
		}
		for range 3 {
			mean := r.Level
			s := runs.Snapshot{Started: reporttest.Noon(), Seconds: 100, InFlightMean: &mean}
			for i := range 10 {
				s.Blocks = append(s.Blocks, blocks[i%len(blocks)])
			}
			r.Snapshots = append(r.Snapshots, s)
		}
		run.Results = append(run.Results, r)
	}
	run.Title = fmt.Sprintf("%d turns", 10*3*10*3334)
	return run
}

// blockOf returns a block with n turns of 100 gaps each.
func blockOf(n int, rng *rand.Rand) runs.Block {
	b := runs.Block{Seconds: 10}
	gaps := make([]time.Duration, 100)
	for i := range n {
		x := longTurn(i, rng)
		for j := range gaps {
			gaps[j] = x.TPOT.V + time.Duration(rng.IntN(1e6))
		}
		x.Gaps = gaps
		b.Observe(&x, reporttest.SLOs())
	}
	return b
}

// longTurn returns a turn of 101 tokens, without its gaps.
func longTurn(i int, rng *rand.Rand) probe.Result {
	first, token := time.Duration(rng.IntN(1e9)), time.Duration(2e7+rng.IntN(2e7))
	return probe.Result{
		Kind: probe.TurnKinds()[i%2], Outcome: probe.Success, Sent: reporttest.Noon(), End: reporttest.Noon().Add(first + 100*token),
		TTFT: probe.Some(first), TPOT: probe.Some(token),
		Timing: probe.Timing{AnswerTTFT: probe.Some(first), Events: 101},
		Tokens: probe.Tokens{OutputTokens: probe.Some(101)},
	}
}
