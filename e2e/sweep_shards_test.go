//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/sketch"
	"synthetic/internal/study/runfile"
	"synthetic/tools/testkit/reporttest"
	"synthetic/tools/testkit/tlstest"
)

// shardPlan is a sweep of single turns. The test fills in the address and the levels.
const shardPlan = `
title: Shards
variants: [{name: sim, base_url: "%s"}]
levels: {%s}
warm_up: {duration: %s}
measure: {snapshots: 1, snapshot: %s}
workload:
  name: chat
  turns: {min: 1, max: 1}
  prompt_tokens: 50
  starters: 5
  max_output_tokens: 16
  think_time: {min: 0s, max: 0s}
slos:
  - {sli: ttft, threshold: 2s, objective: 95%%}
  - {sli: availability, objective: 95%%}
`

// simulated starts a simulated deployment and returns its URL.
func simulated(t *testing.T, flags ...string) string {
	t.Helper()
	return startDeployment(t, append([]string{"--engine=answer_tokens=16"}, flags...)...).api()
}

// fleet is a sweep by several processes.
type fleet struct {
	dir    string
	shards []*process
	argv   []string
}

// startFleet starts a sweep of count processes, which use a token and TLS.
func startFleet(t *testing.T, count int, levels, snapshot, url string, flags ...string) *fleet {
	t.Helper()
	return startWarmed(t, count, levels, "3s", snapshot, url, flags...)
}

func startWarmed(t *testing.T, count int, levels, warmUp, snapshot, url string, flags ...string) *fleet {
	t.Helper()
	dir := t.TempDir()
	address, _ := freeAddress(t)
	g := tlstest.NewGeneration(t, "a secret of the shards")
	f := &fleet{dir: filepath.Join(dir, "out")}
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, data := range map[string][]byte{"tls.crt": g.Cert, "tls.key": g.Key, "ca.crt": g.CA} {
		file(name, data)
	}
	// All shards have one command line, like the pods of a Job, and read their index from
	// the environment.
	f.argv = append([]string{
		binary(t), "sweep", "--plan.file=" + file("plan.yml", fmt.Appendf(nil, shardPlan, url, levels, warmUp, snapshot)), "--output.dir=" + f.dir,
		fmt.Sprintf("--shards=%d", count), "--barrier.listen=" + address, "--barrier=https://" + address, "--resume",
		"--barrier.token-file=" + file("token", []byte(g.Token+"\n")),
		"--barrier.tls-dir=" + dir,
	}, flags...)
	f.shards = make([]*process, count)
	for i := range count {
		f.start(t, i)
	}
	return f
}

func (f *fleet) start(t *testing.T, i int) {
	t.Helper()
	f.shards[i] = start(t, fmt.Sprintf("shard-%d", i), []string{fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i)}, f.argv...)
}

// measuring waits until a shard measures.
func (f *fleet) measuring(t *testing.T, i int) {
	t.Helper()
	await(t, patience, "a measurement", func() error {
		if !strings.Contains(f.shards[i].output(t), ": measuring, ") {
			return fmt.Errorf("shard %d does not measure yet", i)
		}
		return nil
	}, f.shards[i])
}

// wait waits until all processes have ended, at most for limit.
func (f *fleet) wait(t *testing.T, limit time.Duration) {
	t.Helper()
	for i, p := range f.shards {
		select {
		case <-p.done:
		case <-time.After(limit):
			t.Fatalf("shard %d has not ended after %s", i, limit)
		}
	}
}

// ended checks the exit code of a shard and that its output contains words.
func (f *fleet) ended(t *testing.T, i, code int, words ...string) {
	t.Helper()
	if got := f.shards[i].cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("shard %d ended with %d, want %d:\n%s", i, got, code, f.shards[i].tail(8))
	}
	for _, w := range words {
		if !strings.Contains(f.shards[i].output(t), w) {
			t.Errorf("shard %d does not print %q:\n%s", i, w, f.shards[i].tail(12))
		}
	}
}

func (f *fleet) directory(i int) string { return filepath.Join(f.dir, fmt.Sprintf("shard-%d", i)) }

func runOf(t *testing.T, dir string) *runfile.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := &runfile.Run{}
	if err := json.Unmarshal(data, run); err != nil {
		t.Fatal(err)
	}
	return run
}

// sizes describes a level: the conversations that were due and started, and how many were
// in flight.
type sizes struct {
	due, starts uint64
	mean        float64
}

func sizesOf(r runfile.Result) (n sizes) {
	for _, s := range r.Snapshots {
		n.due, n.starts, n.mean = n.due+s.ConversationsDue, n.starts+s.ConversationStarts, n.mean+*s.ConversationsMean/float64(len(r.Snapshots))
	}
	return n
}

// heldIn returns the numbers of the conversations in some directories, sorted.
func heldIn(t *testing.T, dirs ...string) (all []string) {
	t.Helper()
	for _, turn := range reporttest.Turns(t, dirs...) {
		all = append(all, turn.Study.Conversation)
	}
	slices.Sort(all)
	return all
}

// TestSweepShards: four processes together hold as many conversations per level as one
// process, and the same ones.
func TestSweepShards(t *testing.T) {
	t.Parallel()
	url := simulated(t)
	const levels, snapshot = "rate: [6, 12]", "10s"
	f := startFleet(t, 4, levels, snapshot, url)
	f.wait(t, patience)
	single := startFleet(t, 1, levels, snapshot, url)
	single.wait(t, patience)
	whole := runOf(t, single.dir)
	var dirs []string
	for i := range f.shards {
		f.ended(t, i, 0, "report merge")
		dirs = append(dirs, f.directory(i))
	}
	for level, want := range whole.Results {
		var got sizes
		for i, dir := range dirs {
			run := runOf(t, dir)
			if s := run.Shard; s == nil || s.Index != i || s.Count != 4 || math.Abs(s.OffsetSeconds) > s.ErrorSeconds+1e-6 { // on one machine all shards have the same clock
				t.Fatalf("run.json of shard %d has %+v", i, s)
			}
			r := run.Results[level]
			if why := run.NotReached(r); why != "" || r.State != runfile.Complete {
				t.Errorf("shard %d, level %g: %s, not reached %q", i, r.Level, r.State, why)
			}
			got.due += sizesOf(r).due
		}
		if got.due != sizesOf(want).due {
			t.Errorf("level %g: %d conversations were due, with one process %d", want.Level, got.due, sizesOf(want).due)
		}
	}
	// A conversation is held if it is due before the end of a level. That depends only on
	// the plan and the seed, and each process starts every conversation that is due,
	// however late.
	if got, want := heldIn(t, dirs...), heldIn(t, single.dir); len(want) < 200 || !slices.Equal(got, want) {
		t.Errorf("%d conversations, with one process %d; only in one of them: %q, %q", len(got), len(want), without(got, want), without(want, got))
	}
}

// without returns the elements of all that others lacks.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(c string) bool { return slices.Contains(others, c) })
}

// TestSweepShardsMerged: "report merge" joins the shards into the run of the whole sweep.
func TestSweepShardsMerged(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 3, "concurrency: [7], start_rate: 20", "10s", simulated(t))
	f.wait(t, patience)
	whole := filepath.Join(f.dir, "whole")
	out, err := command(t, binary(t), "report", "merge", f.directory(0), f.directory(1), f.directory(2), "--output.dir="+whole)
	if err != nil {
		t.Fatalf("report merge: %v\n%s", err, out)
	}
	var parts sizes
	for i := range f.shards {
		n := sizesOf(runOf(t, f.directory(i)).Results[0])
		parts.starts, parts.mean = parts.starts+n.starts, parts.mean+n.mean
	}
	run := runOf(t, whole)
	got := sizesOf(run.Results[0])
	if got.starts != parts.starts || got.mean < 0.99*parts.mean || got.mean > 1.01*parts.mean || got.mean < 6.65 {
		t.Errorf("merged: %+v, parts: %+v", got, parts)
	}
	if why := run.NotReached(run.Results[0]); run.Shard != nil || why != "" {
		t.Errorf("run.json of the whole has %+v, not reached %q", run.Shard, why)
	}
}

// TestSweepShardKilled kills one of four shards in mid-level. The others name it, the level
// is not reached, and they end when it does not return. After a restart, --resume measures
// everything.
func TestSweepShardKilled(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 4, "concurrency: [8, 12], start_rate: 20", "20s", simulated(t), "--barrier.wait=15s")
	f.measuring(t, 2)
	f.shards[2].kill()
	f.wait(t, patience)
	for _, i := range []int{0, 1, 3} {
		f.ended(t, i, 1, "not reached: shard 2 (no sign of life for 10s)", "shard 2 (last seen")
		run := runOf(t, f.directory(i))
		if r := run.Results[0]; len(run.Results) != 1 || len(r.Lost) != 1 || r.Verdict.Standing != runfile.Undecided || run.Capacities[0].Level != nil {
			t.Errorf("shard %d: %d results, lost %v, verdict %+v", i, len(run.Results), r.Lost, r.Verdict)
		}
	}
	for i := range f.shards {
		f.start(t, i)
	}
	f.wait(t, patience)
	for i := range f.shards {
		f.ended(t, i, 0)
		for _, r := range runOf(t, f.directory(i)).Results {
			if r.State != runfile.Complete || r.Lost != nil {
				t.Errorf("shard %d, level %g: %s, lost %v", i, r.Level, r.State, r.Lost)
			}
		}
	}
}

// TestSweepShardPaused stops one of four shards for 20 s. The level is not reached and
// names the shard, and all shards measure the next level.
func TestSweepShardPaused(t *testing.T) {
	t.Parallel()
	f := startFleet(t, 4, "concurrency: [8, 12], start_rate: 20", "30s", simulated(t), "--barrier.wait=2m")
	f.measuring(t, 1)
	f.shards[1].signal(t, syscall.SIGSTOP)
	time.Sleep(20 * time.Second) // the pause under test
	f.shards[1].signal(t, syscall.SIGCONT)
	f.wait(t, patience)
	for i := range f.shards {
		f.ended(t, i, 1, "--resume measures them again")
		var last runfile.Result
		for _, r := range runOf(t, f.directory(i)).Results {
			if r.Level == 8 && (len(r.Lost) != 1 || r.Lost[0].Index != 1) {
				t.Errorf("shard %d: the level in which shard 1 stood still lost %v", i, r.Lost)
			}
			last = r
		}
		if last.Level != 12 || last.State != runfile.Complete || last.Lost != nil {
			t.Errorf("shard %d: the last level is %g, %s, lost %v", i, last.Level, last.State, last.Lost)
		}
	}
}

// TestTenThousandStreams measures a level of 10,000 conversations in flight with four
// shards and a deployment on this machine. The test logs how many were in flight; if the
// level was not reached, no verdict may claim otherwise.
func TestTenThousandStreams(t *testing.T) {
	if os.Getenv("E2E_TEN_THOUSAND") == "" {
		t.Skip("needs a machine without other load: set E2E_TEN_THOUSAND=1")
	}
	url := simulated(t, "--engine=first_token=1s,inter_token=1s")
	f := startWarmed(t, 4, "concurrency: [10000], start_rate: 400", "45s", "60s", url, "--barrier.wait=2m")
	f.wait(t, 2*patience)
	var all sizes
	var ttft, tpot runfile.Distribution
	var turns, failed uint64
	for i, p := range f.shards {
		run := runOf(t, f.directory(i))
		r := run.Results[0]
		n := sizesOf(r)
		all.starts, all.mean = all.starts+n.starts, all.mean+n.mean
		added := runfile.Lags([]runfile.Result{r}, func(b runfile.Block) *sketch.Sketch { return b.AddedTTFT })
		for _, b := range r.Blocks() {
			ended, bad := b.Ended()
			turns, failed = turns+ended, failed+bad
			ttft.Merge(b.First.TTFT)
			tpot.Merge(b.First.TPOT)
		}
		cpu := p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
		t.Logf("shard %d: %.0f of 2500 in flight, %d starts, %s of CPU, the prober added at most %.0f ms to 99 of 100 TTFT, not reached %q, verdict %+v",
			i, n.mean, n.starts, cpu.Round(time.Second/10), 1e3*added.Quantile(0.99), run.NotReached(r), r.Verdict)
		if n.mean < 0.95*2500 && r.Verdict.Standing == runfile.Met {
			t.Errorf("shard %d: %.0f of 2500 were in flight, but the level counts as met", i, n.mean)
		}
	}
	t.Logf("all: %.0f of 10000 in flight, %d turns in 60 s, %d failed, TTFT p50 %.3f s p99 %.3f s, TPOT p50 %.3f s p99 %.3f s", all.mean, turns, failed,
		ttft.Values.Quantile(0.5), ttft.Values.Quantile(0.99), tpot.Values.Quantile(0.5), tpot.Values.Quantile(0.99))
}
