package runs

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"synthetic/internal/fleet"
	"synthetic/internal/serverside"
	"synthetic/internal/sketch"
)

// TestMergeAddsEveryField: three snapshots with 1, 2 and 3 in each field, of which the first has no block, are one with 6.
func TestMergeAddsEveryField(t *testing.T) {
	filled := func(n int) Snapshot {
		s := Snapshot{Blocks: []Block{{}, {}}}
		for i := range s.Blocks {
			fill(t, reflect.ValueOf(&s.Blocks[i]).Elem(), n)
		}
		mean, most := float64(n), n
		s.InFlightMean, s.ConversationsMean, s.InFlightMax = &mean, new(mean), &most
		s.ConversationStarts, s.ConversationSkips, s.ConversationsDue, s.Seconds = uint64(n), uint64(n), uint64(n), 10
		return s
	}
	sum, second, third, want := filled(1), filled(2), filled(3), filled(6)
	sum.Blocks, want.Blocks[0] = sum.Blocks[:1], filled(6).Blocks[0]
	fill(t, reflect.ValueOf(&want.Blocks[1]).Elem(), 5)
	want.Blocks[0].Seconds, want.Blocks[1].Seconds = 3, 3
	second.Server = []serverside.Summary{{Source: "http://x/metrics"}}
	want.Server = second.Server
	sum.add(second)
	sum.add(third)
	if diff := cmp.Diff(want, sum, cmp.Comparer(same)); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
}

// fill sets every field to n, or to a map with one such value, or a sketch of n values.
func fill(t *testing.T, v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if s, ok := v.Interface().(*sketch.Sketch); ok {
			for range n {
				s.Add(3)
			}
			return
		}
		fill(t, v.Elem(), n)
	case reflect.String:
		v.SetString("x")
	case reflect.Uint64:
		v.SetUint(uint64(n))
	case reflect.Float64:
		v.SetFloat(float64(n))
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
		r.Shard, r.Levels = fleet.Shard{Index: i, Count: 2}, []float64{50, 80}
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

// TestMergeOfOtherLevels: runs of other levels are not repetitions of each other.
func TestMergeOfOtherLevels(t *testing.T) {
	low, lowAgain, high := example(), example(), example()
	lowAgain.Results[0].Started = noon.Add(time.Hour)
	high.Results[0].Level = 80
	run, err := Merge([]*Run{low, high, lowAgain})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Validate(); err != nil || len(run.Results) != 3 || run.Repetitions != 2 {
		t.Errorf("%d results, %d repetitions, %v", len(run.Results), run.Repetitions, err)
	}
}

func TestMergeRefuses(t *testing.T) {
	shard := func(i int, change func(*Run)) *Run {
		r := example()
		r.Shard = fleet.Shard{Index: i, Count: 2}
		change(r)
		return r
	}
	same := func(*Run) {}
	for want, runs := range map[string][]*Run{
		"a measurement of another one":          {example(), example()},
		"run 2 differs from run 1 in its shard": {example(), shard(0, same)},
		"shard 0/2 is given twice":              {shard(0, same), shard(0, same)},
		"are of different sweeps":               {shard(0, same), shard(1, func(r *Run) { r.Plan.SHA256 = "cd" })},
		"at 2026-03-01 13:00:00 +000":           {shard(0, same), shard(1, func(r *Run) { r.StartAt = noon.Add(time.Hour) })},
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
