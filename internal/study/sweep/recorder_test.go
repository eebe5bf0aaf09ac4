package sweep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
	"synthetic/internal/turnlog"
)

// turnsOf reads a turn log as far as possible.
func turnsOf(t *testing.T, path string) (turns []turnlog.Turn, err error) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := turnlog.NewReader(path, file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		turn, err := r.Next()
		if errors.Is(err, io.EOF) {
			return turns, nil
		} else if err != nil {
			return turns, err
		}
		turns = append(turns, *turn)
	}
}

// TestEveryTurnIsKept compares the turn log with the run: it has every measured turn at its
// place, and marks the warm-up.
func TestEveryTurnIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network network
		defer network.serve(t, "a", simulate.New(quick()))()
		plan := small()
		plan.Levels, plan.Repetitions = []float64{2, 3}, 2
		dir := t.TempDir()
		run, err := Run(t.Context(), Options{Plan: plan, Dir: dir, Dial: network.Dial})
		if err != nil {
			t.Fatal(err)
		}
		turns, err := turnsOf(t, filepath.Join(dir, runfile.TurnsFile))
		if err != nil {
			t.Fatal(err)
		}
		type place struct {
			level      float64
			repetition int
		}
		measured, ttft, warm := map[place]uint64{}, map[place]float64{}, 0
		for _, turn := range turns {
			switch p := (place{turn.Study.Level, turn.Study.Repetition}); turn.Study.Phase {
			case turnlog.Measured:
				measured[p]++
				ttft[p] += turn.TTFT.V.Seconds()
			case turnlog.WarmUp:
				warm++
			}
		}
		for _, r := range run.Results {
			var n uint64
			var sum float64
			for _, b := range r.Blocks() {
				ended, _ := b.Ended()
				n += ended
				if v := b.First.TTFT.Values; v != nil {
					sum += v.Sum()
				}
				if v := b.Followup.TTFT.Values; v != nil {
					sum += v.Sum()
				}
			}
			p := place{r.Level, r.Repetition}
			if n == 0 || measured[p] != n || sum-ttft[p] > 1e-5 || ttft[p]-sum > 1e-5 {
				t.Errorf("%v: %d turns are in the log, %d in the run; TTFT sums up to %g and %g", p, measured[p], n, ttft[p], sum)
			}
		}
		if warm == 0 {
			t.Error("no turn of the warm-up is in the log")
		}
		recounted(t, dir, run)
	})
}

// TestStepsHaveTheirTurns: each step of a ramp is a level in the log, also if users leave.
func TestStepsHaveTheirTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network network
		defer network.serve(t, "a", simulate.New(quick()))()
		plan := small()
		plan.Kind, plan.Levels, plan.Arrival = runfile.Rate, []float64{10}, workload.Arrival{Process: workload.Constant}
		plan.Workload.TurnsMin, plan.Workload.TurnsMax = 1, 1
		plan.Workload.Cancel = workload.Cancel{Share: 0.2, Min: 50 * time.Millisecond, Max: 150 * time.Millisecond}
		plan.Ramp = Ramp{From: 0.2, Over: 60 * time.Second, Steps: 3}
		dir := t.TempDir()
		run, err := Run(t.Context(), Options{Plan: plan, Dir: dir, Dial: network.Dial})
		if err != nil || len(run.Results) != 3 {
			t.Fatalf("%d results, %v", len(run.Results), err)
		}
		recounted(t, dir, run)
	})
}

// TestWarmUpIsWritten: turns are written before a long warm-up ends.
func TestWarmUpIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network network
		defer network.serve(t, "a", simulate.New(quick()))()
		plan := small()
		plan.Levels, plan.WarmUp.Duration = []float64{2}, time.Hour
		plan.Cache.Policy = bustCache // no warm-up of the variant
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		dir := t.TempDir()
		go func() {
			time.Sleep(50 * time.Second)
			files, _ := filepath.Glob(filepath.Join(dir, "levels", "*"+turnsSuffix))
			if len(files) != 1 {
				t.Errorf("files %q", files)
				return
			}
			if info, err := os.Stat(files[0]); err != nil || info.Size() < 1000 {
				t.Errorf("%v, %v", info, err)
			}
		}()
		if _, err := Run(ctx, Options{Plan: plan, Dir: dir, Dial: network.Dial}); !errors.Is(err, ErrInterrupted) {
			t.Error(err)
		}
	})
}

// recounted judges the turns by the run's own objectives, with the same counts as the
// measurement, and by an objective that no turn meets.
func recounted(t *testing.T, dir string, run *runfile.Run) {
	t.Helper()
	study, err := figures.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	again := study.Run
	if err := again.Recount(logOf(t, study.Turns), run.SLOs); err != nil {
		t.Fatal(err)
	}
	for i, r := range run.Results {
		for _, o := range run.SLOs {
			was, lost := r.Judged(o.Name)
			is, lostNow := again.Results[i].Judged(o.Name)
			if !slices.Equal(was, is) || lost != lostNow {
				t.Errorf("level %g, %s: counted %v and %d lost, %v and %d when it was measured", r.Level, o.Name, is, lostNow, was, lost)
			}
		}
	}
	ok, err := study.Recount([]figures.Objective{{Name: "none", Label: "TTFT", Timing: figures.TTFT, Threshold: 1, Share: 99}})
	if err != nil || !ok {
		t.Fatalf("recounted: %t, %v", ok, err)
	}
	for _, l := range study.Series[0].Levels {
		if l.Value(figures.GoodputPerSecond) != 0 || l.Verdict == nil || l.Verdict.Standing != runfile.Missed {
			t.Errorf("level %g has a goodput of %g turns/s, judged %+v", l.At, l.Value(figures.GoodputPerSecond), l.Verdict)
		}
	}
	alone, err := figures.Read(study.Turns)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range alone.Series[0].Levels {
		whole := study.Series[0].Levels[i]
		for _, m := range []figures.Metric{figures.TTFTP50, figures.TPOTP95, "latency_p99.9_ms", "ttft_sd_ms", figures.Completed} {
			if a, b := l.Figure(m).Value, whole.Figure(m).Value; a != b {
				t.Errorf("level %g: %s is %g by its turns alone, %g by the run", l.At, m, a, b)
			}
		}
		if a, b := l.Value(figures.TurnsPerSecond), whole.Value(figures.TurnsPerSecond); a < 0.95*b || a > 1.05*b {
			t.Errorf("level %g: %g turns/s by its turns alone, %g by the run", l.At, a, b)
		}
	}
}

// logOf reads a turn log.
func logOf(t *testing.T, path string) turnlog.Next {
	t.Helper()
	turns, err := turnsOf(t, path)
	if err != nil {
		t.Fatal(err)
	}
	return func() (*turnlog.Turn, error) {
		if len(turns) == 0 {
			return nil, io.EOF
		}
		turn := turns[0]
		turns = turns[1:]
		return &turn, nil
	}
}

// TestTurnsOfAKilledLevel: flushed turns can be read from a truncated file.
func TestTurnsOfAKilledLevel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+turnsSuffix)
	r, err := newRecorder(path, turnlog.Study{Repetition: 1}, []float64{2})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	sent := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	for i := range 3 {
		r.add(&probe.Result{Target: "a", Workload: "w", Kind: probe.First, Turn: 1, Sent: sent, End: sent.Add(time.Second), Outcome: probe.Success}, turnlog.Measured, 0)
		if i == 1 {
			r.flush()
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unpack, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer unpack.Close()
	lines, err := io.ReadAll(unpack)
	if n := bytes.Count(lines, []byte("}\n")); n != 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%d turns, error %v", n, err)
	}
}
