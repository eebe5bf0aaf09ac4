package runfile

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
)

// TestMergeLosesNothing: turns that were counted by three shards give the same file as turns that one process
// counted.
func TestMergeLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	whole := example()
	var shards []*Run
	for i := range 3 {
		r := example()
		r.Shard = Shard{i, 3}
		shards = append(shards, r)
	}
	for _, r := range append(shards, whole) {
		r.Results[0].Tail = &Block{}
		for i := range r.Results[0].Snapshots[0].Blocks {
			r.Results[0].Snapshots[0].Blocks[i] = Block{Seconds: 10}
		}
	}
	for i := range 300 {
		x := turn(probe.TurnKinds()[i%2], time.Duration(rng.IntN(1000))*time.Millisecond, 40*time.Millisecond)
		x.Outcome = probe.Outcomes()[max(rng.IntN(40)-20, 0)%len(probe.Outcomes())]
		x.Lag, x.Recall.Result, x.Recall.Depth = time.Duration(rng.IntN(1000)), recall.Right, probe.Some(rng.IntN(9000))
		at := rng.IntN(3)
		for _, r := range []*Run{shards[rng.IntN(3)], whole} {
			b := r.Results[0].Tail
			if at < 2 {
				b = &r.Results[0].Snapshots[0].Blocks[at]
			}
			b.Observe(&x, objectives())
			b.TurnsStarted++
		}
	}
	merged, err := Merge(shards)
	if err != nil {
		t.Fatal(err)
	}
	got, want := merged.Results[0], whole.Results[0]
	if *got.Snapshots[0].InFlightMean != 3*49.5 || *got.Snapshots[0].InFlightMax != 150 || got.MissingShards != nil {
		t.Errorf("in flight %g, at most %d; shards %v are missing", *got.Snapshots[0].InFlightMean, *got.Snapshots[0].InFlightMax, got.MissingShards)
	}
	text := func(b Block) string {
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for i, b := range append(got.Blocks(), *got.Tail) {
		if a := text(append(want.Blocks(), *want.Tail)[i]); sumless(text(b)) != sumless(a) {
			t.Errorf("block %d is\n%s\nwant\n%s", i, text(b), a)
		}
	}
}

// sumless cuts sums of floating point numbers, whose last digits depend on their order.
func sumless(text string) string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if !strings.HasPrefix(part, `"sum":`) && !strings.HasPrefix(part, `"turn_seconds":`) {
			out = append(out, part)
		}
	}
	return strings.Join(out, ",")
}

func TestMergeRefuses(t *testing.T) {
	shard := func(i int, change func(*Run)) *Run {
		r := example()
		r.Shard = Shard{i, 2}
		change(r)
		return r
	}
	same := func(*Run) {}
	for want, runs := range map[string][]*Run{
		"this is no shard":            {example()},
		"shard 0/2 is given twice":    {shard(0, same), shard(0, same)},
		"are of different sweeps":     {shard(0, same), shard(1, func(r *Run) { r.Plan.SHA256 = "cd" })},
		"at 2026-03-01 13:00:00 +000": {shard(0, same), shard(1, func(r *Run) { r.StartAt = noon.Add(time.Hour) })},
	} {
		if _, err := Merge(runs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	alone, err := Merge([]*Run{shard(1, same)})
	if err != nil || len(alone.Results[0].MissingShards) != 1 || alone.NotReached(alone.Results[0]) == "" {
		t.Errorf("one of two shards: %+v, %v", alone, err)
	}
}
