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

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/probe/workload/trace"
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

// told returns the share of a trace's prompt tokens in blocks that occurred before.
func told(t *testing.T, path string, o trace.Options) (hits float64) {
	t.Helper()
	r, err := trace.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	known := map[string]bool{}
	var cached, all float64
	for rec, err := r.Next(); err == nil; rec, err = r.Next() {
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
	return cached / all
}

// TestRecordedPrefixes replays a trace: the prefix cache hits as often as its blocks repeat.
func TestRecordedPrefixes(t *testing.T) {
	for _, block := range []int{512, 16} {
		t.Run(fmt.Sprint(block), func(t *testing.T) { replays(t, block) })
	}
}

func replays(t *testing.T, block int) {
	const n = 260
	path, o := written(t, n, block), trace.Options{BlockTokens: block}
	hits := told(t, path, o)
	p := small()
	p.Workload = workload.Spec{Name: "recorded", Seed: 1, Recorded: workload.Recorded{Trace: workload.Trace{File: path, Options: o}}, Timeouts: p.Workload.Timeouts}
	p.OpenLoop, p.Levels = true, []float64{2}
	p.Arrival = workload.Arrival{Process: workload.Constant}
	p.WarmUp, p.Measure = fleet.WarmUp{}, fleet.Measure{Snapshots: 1, Conversations: n}
	run, l := sweepOf(t, p)
	if len(l.at) != n {
		t.Fatalf("%d conversations, want %d", len(l.at), n)
	}
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
