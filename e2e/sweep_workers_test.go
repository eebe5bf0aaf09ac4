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
	dir     string
	sweep   *process
	workers []*process
}

// startFleet starts a sweep with count workers, which use a token and TLS.
func startFleet(t *testing.T, count int, levels, warmUp, snapshot, url string, flags ...string) *fleet {
	t.Helper()
	dir := t.TempDir()
	g := tlstest.NewGeneration(t, "a secret of the workers")
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
	shared := []string{"--workers.token-file=" + file("token", []byte(g.Token+"\n")), "--workers.tls-dir=" + dir}
	var addresses []string
	for i := range count {
		address, _ := freeAddress(t)
		argv := append([]string{binary(t), "sweep", "--worker", "--worker.listen=" + address}, shared...)
		f.workers, addresses = append(f.workers, start(t, fmt.Sprintf("worker-%d", i), nil, argv...)), append(addresses, address)
	}
	argv := append([]string{binary(t), "sweep", "--plan.file=" + file("plan.yml", fmt.Appendf(nil, shardPlan, url, levels, warmUp, snapshot)), "--output.dir=" + f.dir}, flags...)
	if count > 0 {
		argv = append(append(argv, shared...), "--workers="+strings.Join(addresses, ","))
	}
	f.sweep = start(t, "sweep", nil, argv...)
	return f
}

// measuring waits until the sweep measures its first level.
func (f *fleet) measuring(t *testing.T) {
	t.Helper()
	await(t, patience, "a measurement", func() error {
		if !strings.Contains(f.sweep.output(t), ": measuring, ") {
			return fmt.Errorf("it does not measure yet")
		}
		return nil
	}, f.sweep)
}

// ended waits until the sweep has ended with exit code 0, and checks that its output contains words.
func (f *fleet) ended(t *testing.T, words ...string) {
	t.Helper()
	select {
	case <-f.sweep.done:
	case <-time.After(patience):
		t.Fatalf("the sweep has not ended after %s:\n%s", patience, f.sweep.tail(12))
	}
	if got := f.sweep.cmd.ProcessState.ExitCode(); got != 0 {
		t.Errorf("the sweep ended with %d:\n%s", got, f.sweep.tail(12))
	}
	for _, w := range words {
		if !strings.Contains(f.sweep.output(t), w) {
			t.Errorf("the sweep does not print %q:\n%s", w, f.sweep.tail(12))
		}
	}
}

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

// TestSweepWorkers: a sweep with three workers holds as many conversations per level as one process,
// and the same ones, and writes one report.
func TestSweepWorkers(t *testing.T) {
	t.Parallel()
	url := simulated(t)
	const levels, warmUp, snapshot = "rate: [6, 12]", "3s", "10s"
	f := startFleet(t, 3, levels, warmUp, snapshot, url)
	f.ended(t, "the report is")
	single := startFleet(t, 0, levels, warmUp, snapshot, url)
	single.ended(t)
	got, want := runOf(t, f.dir), runOf(t, single.dir)
	for i, r := range got.Results {
		if why := got.NotReached(r); why != "" || len(r.Workers) != 3 || sizesOf(r).due != sizesOf(want.Results[i]).due {
			t.Errorf("level %g: not reached %q, %d workers, %d conversations were due, with one process %d", r.Level, why, len(r.Workers), sizesOf(r).due, sizesOf(want.Results[i]).due)
		}
		for _, w := range r.Workers { // on one machine all processes have the same clock
			if math.Abs(w.OffsetSeconds) > w.ErrorSeconds+1e-6 {
				t.Errorf("worker %+v", w)
			}
		}
	}
	// A conversation is held if it is due before the end of a level. That depends only on
	// the plan and the seed, and each process starts every conversation that is due,
	// however late.
	if got, want := heldIn(t, f.dir), heldIn(t, single.dir); len(want) < 200 || !slices.Equal(got, want) {
		t.Errorf("%d conversations, with one process %d; only in one of them: %q, %q", len(got), len(want), without(got, want), without(want, got))
	}
}

// without returns the elements of all that others lacks.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(c string) bool { return slices.Contains(others, c) })
}

// TestSweepWorkerKilled kills one of two workers in mid-level, or stops it for 20 s. The level is
// measured again by the others, and the sweep ends with a report that names the worker. The stopped
// worker takes part in the next level.
func TestSweepWorkerKilled(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *process){
		"killed": func(_ *testing.T, p *process) { p.kill() },
		"stopped": func(t *testing.T, p *process) {
			p.signal(t, syscall.SIGSTOP)
			time.Sleep(20 * time.Second) // the pause under test
			p.signal(t, syscall.SIGCONT)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFleet(t, 2, "concurrency: [8, 12], start_rate: 20", "3s", "30s", simulated(t))
			f.measuring(t)
			lose(t, f.workers[1])
			f.ended(t, "Workers were lost; the level is measured again without them", "the report is")
			run := runOf(t, f.dir)
			var carried []int
			for _, r := range run.Results {
				carried = append(carried, len(r.Workers))
				if why := run.NotReached(r); why != "" || r.State != runfile.Complete {
					t.Errorf("level %g: %s, not reached %q", r.Level, r.State, why)
				}
			}
			want := map[string][]int{"killed": {1, 1}, "stopped": {1, 2}}[name]
			if !slices.Equal(carried, want) || len(run.Results[0].LostWorkers) != 1 {
				t.Errorf("workers by level: %v, want %v; lost %v", carried, want, run.Results[0].LostWorkers)
			}
			text, err := os.ReadFile(filepath.Join(f.dir, "report", "report.md"))
			if err != nil || !strings.Contains(string(text), "divided between the other processes") {
				t.Errorf("the report does not name the lost worker: %v", err)
			}
		})
	}
}

// TestTenThousandStreams measures a level of 10,000 conversations in flight with four
// processes and a deployment on this machine. The test logs how many were in flight; if the
// level was not reached, no verdict may claim otherwise.
func TestTenThousandStreams(t *testing.T) {
	if os.Getenv("E2E_TEN_THOUSAND") == "" {
		t.Skip("needs a machine without other load: set E2E_TEN_THOUSAND=1")
	}
	url := simulated(t, "--engine=first_token=1s,inter_token=1s")
	f := startFleet(t, 3, "concurrency: [10000], start_rate: 400", "45s", "60s", url)
	f.ended(t)
	run := runOf(t, f.dir)
	r := run.Results[0]
	added := runfile.Lags([]runfile.Result{r}, func(b runfile.Block) *sketch.Sketch { return b.AddedTTFT })
	var ttft, tpot runfile.Distribution
	var turns, failed uint64
	for _, b := range r.Blocks() {
		ended, bad := b.Ended()
		turns, failed = turns+ended, failed+bad
		ttft.Merge(b.First.TTFT)
		tpot.Merge(b.First.TPOT)
	}
	all := sizesOf(r)
	if all.mean < 0.95*10000 && r.Verdict.Standing == runfile.Met {
		t.Errorf("%.0f of 10000 were in flight, but the level counts as met", all.mean)
	}
	cpu := f.sweep.cmd.ProcessState.UserTime() + f.sweep.cmd.ProcessState.SystemTime()
	t.Logf("%.0f of 10000 in flight, %d turns in 60 s, %d failed, not reached %q, TTFT p50 %.3f s p99 %.3f s, TPOT p50 %.3f s p99 %.3f s; shard 0 took %s of CPU; the probers added at most %.0f ms to 99 of 100 TTFT",
		all.mean, turns, failed, run.NotReached(r), ttft.Values.Quantile(0.5), ttft.Values.Quantile(0.99), tpot.Values.Quantile(0.5), tpot.Values.Quantile(0.99), cpu.Round(time.Second/10), 1e3*added.Quantile(0.99))
}
