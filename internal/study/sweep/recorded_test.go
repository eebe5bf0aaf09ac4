package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
	"synthetic/internal/study/runfile"
)

// written writes a trace in Mooncake's format: bursts of requests, some of which continue
// earlier prompts.
func written(t *testing.T, n, block int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "trace.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	var prompts [][]uint64
	name, at := uint64(0), 0.0
	for range n {
		var ids []uint64
		if len(prompts) > 0 && rng.Float64() < 0.7 {
			ids = slices.Clone(prompts[rng.IntN(len(prompts))])
			ids = ids[:rng.IntN(len(ids))] // the last block is partial, so it differs
		}
		for range (2 + rng.IntN(3)) * max(256/block, 1) {
			name++
			ids = append(ids, name)
		}
		prompts = append(prompts, ids)
		line := map[string]any{"timestamp": int(at), "input_length": block*len(ids) - rng.IntN(block*3/4), "output_length": 1 + rng.IntN(20), "hash_ids": ids}
		if err := json.NewEncoder(f).Encode(line); err != nil {
			t.Fatal(err)
		}
		if rng.Float64() < 0.4 {
			at += rng.ExpFloat64() * 2500
		} else {
			at += rng.ExpFloat64() * 50
		}
	}
	return path
}

// told returns the gaps between a trace's records in seconds, and the share of its prompt
// tokens in blocks that occurred before.
func told(t *testing.T, path string, o trace.Options) (gaps []float64, hits float64) {
	t.Helper()
	r, err := trace.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	known := map[string]bool{}
	var cached, all float64
	last := time.Duration(-1)
	for rec, err := r.Next(); err == nil; rec, err = r.Next() {
		if last >= 0 {
			gaps = append(gaps, (rec.At - last).Seconds())
		}
		last = rec.At
		turn := rec.Turns[0]
		hit := true
		for i := range turn.Prompt / turn.BlockTokens {
			prefix := fmt.Sprint(turn.Blocks[:i+1])
			if hit = hit && known[prefix]; hit {
				cached += float64(turn.BlockTokens)
			}
			known[prefix] = true
		}
		all += float64(turn.Prompt)
	}
	return gaps, cached / all
}

// kolmogorov returns the two-sample statistic and its critical value at 5 %.
func kolmogorov(a, b []float64) (d, critical float64) {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	for _, x := range slices.Concat(a, b) {
		i, _ := slices.BinarySearchFunc(a, x, func(e, x float64) int { return cmpAfter(e, x) })
		j, _ := slices.BinarySearchFunc(b, x, func(e, x float64) int { return cmpAfter(e, x) })
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	n, m := float64(len(a)), float64(len(b))
	return d, 1.36 * math.Sqrt((n+m)/(n*m))
}

// cmpAfter compares numbers; equal ones, up to the rounding of a time, count as before.
func cmpAfter(e, x float64) int {
	if e <= x+1e-7 {
		return -1
	}
	return 1
}

func gapsOf(at []time.Time, times float64) (out []float64) {
	slices.SortFunc(at, time.Time.Compare)
	for i := range at[1:] {
		out = append(out, at[i+1].Sub(at[i]).Seconds()*times)
	}
	return out
}

// TestRecordedTimesAndPrefixes replays a trace at twice its speed: starts follow its intervals,
// and the prefix cache hits as often as its blocks repeat.
func TestRecordedTimesAndPrefixes(t *testing.T) {
	for _, block := range []int{512, 16} {
		t.Run(fmt.Sprint(block), func(t *testing.T) { replays(t, block) })
	}
}

func replays(t *testing.T, block int) {
	const n, speed = 260, 2
	path, o := written(t, n, block), trace.Options{BlockTokens: block}
	want, hits := told(t, path, o)
	sum, err := trace.Survey(path, o)
	if err != nil {
		t.Fatal(err)
	}
	p := small()
	p.Workload = workload.Spec{Name: "recorded", Seed: 1, Trace: workload.Trace{File: path, Options: o}, Timeouts: p.Workload.Timeouts}
	p.Kind, p.OwnRate, p.Levels = runfile.Rate, sum.Rate(), []float64{speed * sum.Rate()}
	p.Arrival = workload.Arrival{Process: workload.Constant}
	p.WarmUp, p.Measure = WarmUp{}, Measure{Snapshots: 1, Conversations: n}
	run, l := sweepOf(t, p)
	if len(l.at) != n {
		t.Fatalf("%d conversations, want %d", len(l.at), n)
	}
	got := gapsOf(l.at, speed)
	var tokens struct{ prompt, cached float64 }
	for _, b := range run.Results[0].Blocks() {
		if b.Tokens.Cached != nil {
			tokens.prompt += float64(*b.Tokens.CachedOf)
			tokens.cached += float64(*b.Tokens.Cached)
		}
	}
	if rate := tokens.cached / tokens.prompt; hits < 0.3 || math.Abs(rate-hits) > 0.02 {
		t.Errorf("the cache hits %.3f of the tokens, the trace's own blocks %.3f", rate, hits)
	}
	if r := run.Results[0]; run.NotReached(r) != "" || outcomes(r)[probe.Success] != n {
		t.Errorf("not reached: %q, outcomes %v", run.NotReached(r), outcomes(r))
	}
	d, critical := kolmogorov(got, want)
	if d > critical/2 {
		t.Errorf("the intervals are another sample: D = %.3f, critical %.3f", d, critical)
	}
	t.Logf("D = %.4f (critical %.3f); the cache hits %.2f %%, the trace's own blocks %.2f %%", d, critical, 100*tokens.cached/tokens.prompt, 100*hits)
	if block == 16 {
		return // the times are those of 512
	}
	// A Poisson process must differ from it.
	p.OwnRate, p.Arrival.Process = 0, workload.Poisson
	_, l = sweepOf(t, p)
	if d, critical := kolmogorov(gapsOf(l.at, speed), want); d < critical {
		t.Errorf("a Poisson process passes for the trace: D = %.3f, critical %.3f", d, critical)
	}
}

// TestRamp steps from a fifth of the rate to all of it: each step is a level with its own
// starts and verdict.
func TestRamp(t *testing.T) {
	p := small()
	p.Kind, p.Levels, p.Arrival = runfile.Rate, []float64{10}, workload.Arrival{Process: workload.Constant}
	p.Workload.TurnsMin, p.Workload.TurnsMax = 1, 1
	p.Cache.Policy = bustCache // no warm-up of the variant
	for i := range p.SLOs {
		p.SLOs[i].Objective = 0.9 // 40 turns prove it
	}
	p.Ramp = Ramp{From: 0.2, Over: 60 * time.Second, Steps: 3}
	run, _ := sweepOf(t, p)
	if len(run.Results) != 3 {
		t.Fatalf("%d results, want one for each step", len(run.Results))
	}
	for i, want := range []float64{2, 6, 10} {
		r := run.Results[i]
		if n := float64(r.Snapshots[0].ConversationStarts); r.Level != want || len(r.Snapshots) != 1 || math.Abs(n-20*want) > 2 {
			t.Errorf("step %d: level %g with %g starts, want %g with %g", i, r.Level, n, want, 20*want)
		}
		if why := run.NotReached(r); why != "" || r.Verdict == nil || !r.Verdict.Met {
			t.Errorf("level %g: not reached %q, verdict %+v", r.Level, why, r.Verdict)
		}
		if (r.Tail != nil) && i < 2 {
			t.Errorf("level %g has the tail of the last", r.Level)
		}
	}
	if run.MeasurementSeconds != 20 || run.Snapshots != 1 || run.WarmUp != "10s at the rate of the first" {
		t.Errorf("a level is measured for %g s in %d snapshots, after %q", run.MeasurementSeconds, run.Snapshots, run.WarmUp)
	}
	if c := run.Capacities; len(c) != 1 || c[0].Level == nil || *c[0].Level != 10 {
		t.Errorf("capacities %+v", c)
	}
	if _, err := Run(t.Context(), Options{Plan: p, Dir: t.TempDir(), FindCapacity: true}); err == nil {
		t.Error("a search takes a ramp")
	}
}

// TestBend: starts on a ramp follow the integral of its rate.
func TestBend(t *testing.T) {
	for _, c := range []struct {
		Ramp
		even, want []float64
	}{
		{Ramp{From: 0.5, Over: 10 * time.Second}, []float64{0, 4, 4 + 7.5, 20}, []float64{0, 8, 18, 26.5}},
		{Ramp{Over: 10 * time.Second}, []float64{0, 1.25, 5, 6}, []float64{8, 13, 18, 19}}, // no warm-up
		{Ramp{From: 0.1, Over: 4 * time.Second, Steps: 2}, []float64{0.8, 0.9, 1.0, 3}, []float64{8, 9, 10, 12}},
		{Ramp{From: 0.1, Over: 4 * time.Second, Steps: 1}, []float64{0.8, 4.8, 5.8}, []float64{8, 12, 13}},
	} {
		bend := c.warp(8 * time.Second)
		for i, even := range c.even {
			if got := bend(time.Duration(even * 1e9)).Seconds(); math.Abs(got-c.want[i]) > 1e-6 {
				t.Errorf("%+v: a start at %g comes at %g, want %g", c.Ramp, even, got, c.want[i])
			}
		}
	}
}

// TestUsersLeave: turns that users close are no failures, and the server sees them end.
func TestUsersLeave(t *testing.T) {
	p := small()
	p.Workload.Cancel = workload.Cancel{Share: 0.5, Min: 50 * time.Millisecond, Max: 150 * time.Millisecond}
	p.Workload.TurnsMin, p.Workload.TurnsMax = 1, 1
	var gone atomic.Int64
	run := sweepOn(t, p, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r)
			if r.Context().Err() != nil {
				gone.Add(1)
			}
		})
	})
	for _, r := range run.Results {
		n := outcomes(r)
		all := float64(n[probe.Success] + n[probe.UserCanceled])
		if share := float64(n[probe.UserCanceled]) / all; math.Abs(share-0.5) > 0.1 {
			t.Errorf("level %g: %v", r.Level, n)
		}
		if v := r.Verdict; v == nil || !v.Met {
			t.Errorf("level %g: %+v", r.Level, v)
		}
		if why := run.NotReached(r); why != "" {
			t.Errorf("level %g was not reached: %s", r.Level, why)
		}
		flown, held := 0.0, 0.0 // turns in flight were those that ended, except at the edges
		for _, s := range r.Snapshots {
			held += *s.InFlightMean * s.Seconds
		}
		for _, b := range r.Blocks() {
			flown += b.TurnSeconds
		}
		if math.Abs(flown-held) > 0.05*held {
			t.Errorf("level %g: turns took %g s, and %g s in flight", r.Level, flown, held)
		}
	}
	if gone.Load() < 100 {
		t.Errorf("the server saw %d users go", gone.Load())
	}
}
