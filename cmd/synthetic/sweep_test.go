package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/study/report"
	"synthetic/internal/study/sweep"
)

// planFor writes a plan with short levels and two variants of one deployment.
func planFor(t *testing.T, url, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.yml")
	text := fmt.Sprintf(`title: quick
variants:
  - {name: a, base_url: %[1]s, connection: reuse}
  - {name: b, base_url: %[1]s, connection: reuse}
workload: {prompt_tokens: 50, max_output_tokens: 8, turns: {min: 2, max: 2}, think_time: {min: 0s, max: 0s}}
levels: {concurrency: [2, 4], start_rate: 100}
warm_up: {duration: 100ms}
measure: {snapshots: 1, snapshot: 1s}
%s`, url, more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSweepOnRealSockets runs the whole command over TCP.
func TestSweepOnRealSockets(t *testing.T) {
	_, server := fastDeployment(t)
	plan, dir := planFor(t, server.URL, ""), filepath.Join(t.TempDir(), "out")
	p := start(t, "sweep", "--plan.file="+plan, "--output.dir="+dir)
	<-p.done
	if p.code != exitOK {
		t.Fatalf("exit code %d:\n%s%s", p.code, p.out, p.err)
	}
	for _, want := range []string{"finished a, level 2, repetition 1: ", " 0 failed", ", PASS ~ (", "\nTTFT -- Time to First Token\n  Concurrency  a TTFT p50  b TTFT p50", "\nSLO Compliance Matrix\n", "4 levels in "} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, p.out)
		}
	}
	if !strings.Contains(p.err.String(), "[4/4] a-c4-r1: measuring") {
		t.Errorf("no progress:\n%s", p.err)
	}
	study, err := report.Read(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := study.Run
	if len(run.Results) != 4 || run.Title != "quick" || run.Tool.Name != "synthetic" || run.Plan.File != "plan.yml" {
		t.Errorf("%d results, title %q, tool %+v", len(run.Results), run.Title, run.Tool)
	}
	for _, r := range run.Results {
		s := r.Snapshots[0]
		if s.Blocks[0].Outcomes[probe.Success] == 0 || len(s.Server) != 1 || s.Server[0].Figures[serverside.OutputPerSecond] <= 0 {
			t.Errorf("%s, level %g: %v, server %+v", r.Variant, r.Level, s.Blocks[0].Outcomes, s.Server)
		}
	}
	again := start(t, "sweep", "--plan.file="+plan, "--output.dir="+dir)
	if <-again.done; again.code != exitUsage || !strings.Contains(again.err.String(), "use --resume") {
		t.Errorf("a second sweep into the directory: exit code %d\n%s", again.code, again.err)
	}
}

// TestSweepCountsRightAnswers: the line of a level has its right answers.
func TestSweepCountsRightAnswers(t *testing.T) {
	t.Parallel()
	_, server := fastDeployment(t)
	plan, dir := filepath.Join(t.TempDir(), "plan.yml"), filepath.Join(t.TempDir(), "out")
	text := fmt.Sprintf(`variants: [{name: a, base_url: %q, connection: reuse}]
workload: {prompt_tokens: 300, max_output_tokens: 32, turns: {min: 4, max: 4}, think_time: {min: 0s, max: 0s}, recall: 99%%}
levels: {concurrency: [2], start_rate: 0}
warm_up: {duration: 100ms}
measure: {snapshots: 1, snapshot: 1s}
slos: [{sli: correct, objective: 90%%}]
`, server.URL)
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "sweep", "--plan.file="+plan, "--output.dir="+dir)
	<-p.done
	if found := regexp.MustCompile(`, (\d+) of (\d+) reference codes right`).FindStringSubmatch(p.out.String()); p.code != exitOK || found == nil || found[1] != found[2] {
		t.Errorf("exit code %d:\n%s%s", p.code, p.out, p.err)
	}
}

// TestSweepInOneLine sweeps without a plan file. The printed plan is kept and gives the
// same sweep.
func TestSweepInOneLine(t *testing.T) {
	_, server := fastDeployment(t)
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "sweep", "--base-url="+server.URL, "--concurrency=2,4", "--duration=1s", "--warm-up=100ms", "--output.dir="+dir,
		"--prompt-tokens=50", "--max-output-tokens=8", "--turns=1")
	if <-p.done; p.code != exitOK {
		t.Fatalf("exit code %d:\n%s%s", p.code, p.out, p.err)
	}
	kept := filepath.Join(dir, "plan.yml")
	text, err := os.ReadFile(kept)
	if err != nil || !strings.Contains(p.out.String(), kept+":\n"+string(text)) || !strings.Contains(string(text), "concurrency: [2,4], start_rate: 81}") ||
		!strings.HasPrefix(string(text), "variants:\n") {
		t.Errorf("the plan (%v):\n%s\ndiffers from the printed plan:\n%s", err, text, p.out)
	}
	check := start(t, "check", kept)
	if <-check.done; check.code != exitOK {
		t.Errorf("check: exit code %d: %s", check.code, check.err)
	}
	again := start(t, "sweep", "--plan.file="+kept, "--output.dir="+dir, "--resume")
	if <-again.done; again.code != exitOK || strings.Contains(again.out.String(), "finished") {
		t.Errorf("--resume with the stored plan repeated a measurement, exit code %d:\n%s%s", again.code, again.out, again.err)
	}
}

// TestPlanLineWithoutWarmUp: --warm-up=0 is not the default.
func TestPlanLineWithoutWarmUp(t *testing.T) {
	for args, want := range map[string]string{"--warm-up=0s": "warm_up: {duration: 0s}", "--duration=60s": "warm_up: {duration: 20s}"} {
		l := planLine{}
		app := kingpin.New("synthetic", "")
		l.add(app.Command("sweep", ""))
		if _, err := app.Parse([]string{"sweep", "--base-url=http://a", "--rate=1", args}); err != nil {
			t.Fatal(err)
		}
		if text, err := l.text(); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v\n%s", args, err, text)
		}
	}
}

// TestCheckPlan: check accepts the plan files of sweep and sends nothing.
func TestCheckPlan(t *testing.T) {
	good := start(t, "check", planFor(t, "http://127.0.0.1:1", ""))
	if <-good.done; good.code != exitOK || !strings.Contains(good.out.String(), "ok (2 variants, 2 levels, 3 SLOs, 4 cells to measure)") {
		t.Errorf("exit code %d: %s%s", good.code, good.out, good.err)
	}
	for _, want := range []string{
		"takes about ", "if a turn takes 1.5s, as the SLOs allow\n", "costs about 736 prompt and 71.4 output tokens",
		"chance can turn the verdict on SLO ttft at every level, which has fewer than the 299 turns that it takes; measure longer\n",
	} {
		if !strings.Contains(good.out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, good.out)
		}
	}
	free := start(t, "check", planFor(t, "http://127.0.0.1:1", "slos: []\n"))
	if <-free.done; free.code != exitOK || strings.Contains(free.out.String(), "as the SLOs allow") || !strings.Contains(free.out.String(), "if a turn takes ") {
		t.Errorf("without SLOs, exit code %d: %s%s", free.code, free.out, free.err)
	}
	bad := start(t, "check", planFor(t, "http://127.0.0.1:1", "repetition: 2\n"))
	if <-bad.done; bad.code != exitUsage || !strings.Contains(bad.err.String(), `unknown key`) {
		t.Errorf("exit code %d: %s%s", bad.code, bad.out, bad.err)
	}
}

// TestProgressWithoutATerminal: the progress of a short level includes its latencies, and
// no line repeats within a few seconds.
func TestProgressWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	v := &sweepView{progressTo: &out}
	stats := sweep.Stats{Turns: 12, InFlight: 4, TTFT: [3]time.Duration{50123 * time.Microsecond, 212345 * time.Microsecond, 3 * time.Second}}
	for _, s := range []sweep.Stats{{}, {}, stats, stats} {
		v.progress(sweep.Progress{Cell: "a-c4-r1", Number: 1, Total: 2, Phase: sweep.PhaseMeasure, Stats: s})
	}
	want := "[1/2] a-c4-r1: measuring\n" +
		"[1/2] a-c4-r1: measuring, 12 turns, 0 failed, 4 in flight, TTFT p50 50.1 ms, p95 212 ms, p99 3 s, TPOT unknown\n"
	if out.String() != want {
		t.Errorf("progress:\n%swant:\n%s", &out, want)
	}
}

// TestSweepStops stops a sweep with a signal: the run is written, and the exit code is
// exitStopped.
func TestSweepStops(t *testing.T) {
	_, server := fastDeployment(t)
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "sweep", "--plan.file="+planFor(t, server.URL, "pause: 1h\n"), "--output.dir="+dir)
	p.out.find(t, "finished a, level 2")
	if code := p.end(); code != exitStopped {
		t.Errorf("exit code %d, want %d:\n%s", code, exitStopped, p.err)
	}
	study, err := report.Read(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := study.Run
	if len(run.Results) != 1 || run.Interrupted == "" {
		t.Errorf("%d results, interrupted %q", len(run.Results), run.Interrupted)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "report", "report.md")); err != nil || !strings.Contains(string(text), "stopped before its end") {
		t.Errorf("the report of an interrupted sweep (%v):\n%s", err, text)
	}
}

// TestKilledSweepsLoseNothing kills the real program at random moments and resumes the
// sweep. Levels that it reported as finished stay unchanged and are part of the final run.
func TestKilledSweepsLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("kills 20 processes, which takes half a minute; make test-long runs it")
	}
	t.Parallel()
	_, server := fastDeployment(t)
	plan := planFor(t, server.URL, "repetitions: 2\n")
	rng := rand.New(rand.NewPCG(20, 9))
	killed, outlived := 0, 0
	for killed < 20 {
		dir := filepath.Join(t.TempDir(), "out")
		kills, held, reported := killUntilDone(t, plan, dir, 20-killed, rng)
		killed, outlived = killed+kills, outlived+held
		study, err := report.Read(filepath.Join(dir, "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(study.Run.Results); n != 8 {
			t.Errorf("%d results, want 8", n)
		}
		for _, r := range study.Run.Results {
			name := fmt.Sprintf("%s-c%g-r%d.json", r.Variant, r.Level, r.Repetition)
			started := fmt.Sprintf(`"started": %q`, r.Started.Format(time.RFC3339Nano))
			// A process that was killed after it wrote the file, but before it printed the
			// line, did not report it.
			if reported[name] != "" && !strings.Contains(reported[name], started) {
				t.Errorf("the run does not have the reported %s", name)
			}
			delete(reported, name)
		}
		if len(reported) != 0 {
			t.Errorf("reported but missing in the run: %v", reported)
		}
	}
	if outlived == 0 {
		t.Errorf("none of %d kills came after a reported level, so the test proves nothing", killed)
	}
}

// killUntilDone kills one sweep up to most times until it finishes. It returns the number
// of kills, how many of them came after a finished level, and the files of the reported
// levels.
func killUntilDone(t *testing.T, plan, dir string, maxKills int, rng *rand.Rand) (kills, held int, reported map[string]string) {
	t.Helper()
	reported = map[string]string{}
	for {
		cmd, stdout, stderr := newProcess("sweep", "--plan.file="+plan, "--output.dir="+dir, "--resume")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kills < maxKills {
			// Between the start and the middle of the second level, which comes later on a
			// busy machine.
			within := 2500*time.Millisecond + time.Duration(kills-held)*time.Second
			timer := time.AfterFunc(time.Duration(rng.Int64N(int64(within))), func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
			defer timer.Stop()
		}
		err := cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == -1) {
			t.Fatalf("%v:\n%s", err, stderr)
		}
		collect(t, dir, stdout.String(), reported)
		if err == nil {
			return kills, held, reported
		}
		if kills++; len(reported) > 0 {
			held++
		}
	}
}

// collect adds the files of newly reported levels, which have to exist, and checks that the
// earlier ones have not changed.
func collect(t *testing.T, dir, stdout string, files map[string]string) {
	t.Helper()
	for line := range strings.Lines(stdout) {
		var variant string
		var level float64
		var repetition int
		rest, ok := strings.CutPrefix(line, "finished ")
		if !ok {
			continue
		}
		variant, rest, _ = strings.Cut(rest, ",")
		if _, err := fmt.Sscanf(rest, " level %g, repetition %d:", &level, &repetition); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		name := fmt.Sprintf("%s-c%g-r%d.json", variant, level, repetition)
		if files[name] != "" {
			t.Errorf("%s was measured twice", name)
		}
		files[name] = "new"
	}
	for name, before := range files {
		data, err := os.ReadFile(filepath.Join(dir, "levels", name))
		if err != nil {
			t.Errorf("reported as finished but missing: %v", err)
		}
		if before != "new" && before != string(data) {
			t.Errorf("%s changed", name)
		}
		files[name] = string(data)
	}
}
