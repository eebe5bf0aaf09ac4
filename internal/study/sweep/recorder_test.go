package sweep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/turns"
)

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
		type place struct {
			level      float64
			repetition int
		}
		measured, ttft, warm := map[place]uint64{}, map[place]float64{}, 0
		files, _ := filepath.Glob(filepath.Join(dir, "levels", "*"+turnsSuffix))
		for _, file := range files {
			logged, err := turns.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, turn := range logged {
				switch p := (place{turn.Level, turn.Repetition}); turn.Phase {
				case inMeasurement:
					measured[p]++
					ttft[p] += *turn.TTFT
				case inWarmUp:
					warm++
				}
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
	})
}

// TestWarmUpIsWritten: turns are written before a long warm-up ends.
func TestWarmUpIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network network
		defer network.serve(t, "a", simulate.New(quick()))()
		plan := small()
		plan.Levels, plan.WarmUp.Duration = []float64{2}, time.Hour
		plan.Cache.Policy = fleet.BustCache // no warm-up of the variant
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

// TestTurnsOfAKilledLevel: flushed turns can be read from a truncated file.
func TestTurnsOfAKilledLevel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a"+turnsSuffix)
	r, err := newRecorder(path, probe.Field{Key: "repetition", Value: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	sent := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	for i := range 3 {
		r.add(&probe.Result{
			Target: "a", Workload: "w", Kind: probe.First, Sent: sent, End: sent.Add(time.Second), Outcome: probe.Success,
			Asked: probe.Asked{Turn: 1},
		}, inMeasurement)
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
