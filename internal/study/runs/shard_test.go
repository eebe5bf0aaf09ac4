package runs

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/serverside"
	"synthetic/internal/sketch"
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

// TestMergeKeepsEveryField: nothing plus a block, in which every field is set, is that block.
func TestMergeKeepsEveryField(t *testing.T) {
	whole := Snapshot{Blocks: []Block{{}}}
	fill(t, reflect.ValueOf(&whole.Blocks[0]).Elem())
	whole.Server = []serverside.Summary{{Source: "http://x/metrics"}}
	sum := Snapshot{Blocks: []Block{{}}}
	sum.add(whole)
	if diff := cmp.Diff(whole, sum, cmp.Comparer(same)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// fill sets every field to 3, or to a map or a sketch with one value.
func fill(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if s, ok := v.Interface().(*sketch.Sketch); ok {
			s.Add(3)
			return
		}
		fill(t, v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64:
		v.SetUint(3)
	case reflect.Int:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(3)
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}

// TestMergeIsIndependentOfOrder: the merged run has the deployment of every shard, its missed verdict, and the names of levels
// that no shard measured, whichever shard is first.
func TestMergeIsIndependentOfOrder(t *testing.T) {
	shards := make([]*Run, 2)
	for i := range shards {
		r := example()
		r.Shard, r.Levels = Shard{i, 2}, []float64{50, 80}
		r.Deployment = []Parameter{{Name: "Engine", Value: "vLLM"}, {Name: "Model", Value: []string{"a", "b"}[i]}}[i:]
		r.Results[0].State, r.Results[0].Verdict = EndedEarly, &LevelVerdict{Standing: []Standing{Undecided, Missed}[i]}
		shards[i] = r
	}
	for range shards {
		slices.Reverse(shards)
		run, err := Merge(shards)
		if err != nil {
			t.Fatal(err)
		}
		if got := run.Results[0].Verdict.Standing; got != Missed {
			t.Errorf("the merged verdict is %s", got)
		}
		if len(run.Deployment) != 3 || run.Interrupted != "no shard measured concurrency 80 of round_robin, repetition 1" {
			t.Errorf("deployment %v, interrupted %q", run.Deployment, run.Interrupted)
		}
	}
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
