package runs

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/sketch"
)

// Merge pools repeated runs of one sweep, or adds the runs of the shards of one.
//
// Counts, values and numbers in flight of shards add up, so InFlightMax is an upper bound. A level without the result of
// each shard names those in Result.MissingShards. Verdicts are those of one shard, and have to be renewed.
func Merge(all []*Run) (*Run, error) {
	sum := *all[0]
	sum.Results, sum.Interrupted, sum.Shard, sum.Deployment = nil, "", fleet.Shard{}, nil
	for i, r := range all {
		for _, p := range r.Deployment {
			if !slices.Contains(sum.Deployment, p) {
				sum.Deployment = append(sum.Deployment, p)
			}
		}
		if r.Generated.After(sum.Generated) {
			sum.Generated = r.Generated
		}
		if r.Interrupted != "" {
			sum.stop(fmt.Sprintf("run %d: %s", i+1, r.Interrupted))
		}
	}
	if all[0].Shard.Count == 0 {
		return &sum, sum.pool(all)
	}
	return &sum, sum.addShards(all)
}

// pool takes the results of repetitions. Each run numbers its own from 1, and runs may have different levels.
func (r *Run) pool(all []*Run) error {
	r.Repetitions = 0
	count, seen := map[Cell]int{}, []Result{}
	for i, o := range all {
		if what := all[0].differsIn(o); what != "" {
			return fmt.Errorf("run %d differs from run 1 in its %s: merge repetitions of one plan, and compare others", i+1, what)
		}
		for _, result := range o.Results {
			if slices.ContainsFunc(seen, func(x Result) bool { return reflect.DeepEqual(x, result) }) {
				return fmt.Errorf("run %d holds a measurement of another one (of %s), which must not count twice: name each run once", i+1, result.Started.Format(time.DateTime))
			}
			seen = append(seen, result)
			c := Cell{Variant: result.Variant, Level: result.Level}
			count[c]++
			result.Repetition = count[c]
			r.Repetitions = max(r.Repetitions, count[c])
			r.Results = append(r.Results, result)
		}
	}
	return nil
}

// differsIn names what makes another run no repetition of this one, or returns "".
func (r *Run) differsIn(o *Run) string {
	for _, part := range []struct {
		name       string
		own, other any
	}{
		{"workload", r.Workload.Parameters, o.Workload.Parameters},
		{"SLOs", r.SLOs, o.SLOs},
		{"variants", r.Variants, o.Variants},
		{"kind of levels", r.LevelKind, o.LevelKind},
		{"shard", r.Shard, o.Shard},
	} {
		if !reflect.DeepEqual(part.own, part.other) {
			return part.name
		}
	}
	return ""
}

func (r *Run) addShards(all []*Run) error {
	if err := areShards(all); err != nil {
		return err
	}
	sums, shards := map[Cell]*Result{}, map[Cell][]int{}
	for _, o := range all {
		for _, result := range o.Results {
			c := Cell{result.Variant, result.Level, result.Repetition}
			if sums[c] == nil {
				sums[c] = &result
			} else {
				sums[c].add(result)
			}
			shards[c] = append(shards[c], o.Shard.Index)
		}
	}
	for c, sum := range sums {
		for i := range all[0].Shard.Count {
			if !slices.Contains(shards[c], i) {
				sum.MissingShards = append(sum.MissingShards, i)
			}
		}
		r.Results = append(r.Results, *sum)
	}
	slices.SortFunc(r.Results, func(a, b Result) int { return a.Started.Compare(b.Started) })
	for _, c := range r.cells() {
		if sums[c] == nil {
			r.stop(fmt.Sprintf("no shard measured %s of %s, repetition %d", r.LevelKind.At(c.Level), c.Variant, c.Repetition))
		}
	}
	return nil
}

// stop adds a reason why the sweep did not finish.
func (r *Run) stop(why string) { r.Interrupted = strings.TrimPrefix(r.Interrupted+"; "+why, "; ") }

// cells returns the planned cells.
func (r *Run) cells() (all []Cell) {
	for repetition := range max(r.Repetitions, 1) {
		for _, level := range r.Levels {
			for _, variant := range r.Variants {
				all = append(all, Cell{variant, level, repetition + 1})
			}
		}
	}
	return all
}

// areShards returns why runs are not different shards of one sweep.
func areShards(runs []*Run) error {
	seen := map[int]bool{}
	for _, r := range runs {
		switch first := runs[0]; {
		case r.Shard.Count != first.Shard.Count || r.Plan.SHA256 != first.Plan.SHA256 || !r.StartAt.Equal(first.StartAt):
			return fmt.Errorf("shard %s of the plan %.12s…, which starts at %s, and shard %s of %.12s… at %s are of different sweeps",
				first.Shard, first.Plan.SHA256, first.StartAt, r.Shard, r.Plan.SHA256, r.StartAt)
		case seen[r.Shard.Index]:
			return fmt.Errorf("shard %s is given twice: name each shard once", r.Shard)
		}
		seen[r.Shard.Index] = true
	}
	return nil
}

// add adds a result of the same cell. The state is that of the shard that got least far; of two equal ones, a missed
// verdict remains.
func (r *Result) add(o Result) {
	order := []State{Complete, EndedEarly, Interrupted}
	further := cmp.Compare(slices.Index(order, o.State), slices.Index(order, r.State))
	if further > 0 || further == 0 && o.Verdict != nil && o.Verdict.Standing == Missed {
		r.State, r.Why, r.Verdict = o.State, o.Why, o.Verdict
	}
	if o.Started.Before(r.Started) {
		r.Started = o.Started
	}
	if o.Ended.After(r.Ended) {
		r.Ended = o.Ended
	}
	for i, s := range o.Snapshots {
		if i < len(r.Snapshots) {
			r.Snapshots[i].add(s)
		} else {
			r.Snapshots = append(r.Snapshots, s)
		}
	}
	switch {
	case r.Tail == nil:
		r.Tail = o.Tail
	case o.Tail != nil:
		r.Tail.add(*o.Tail)
	}
}

// add adds a snapshot of the same time. The deployment's own metrics are equal for all shards.
func (s *Snapshot) add(o Snapshot) {
	weight, own := o.Seconds/max(s.Seconds, o.Seconds), s.Seconds/max(s.Seconds, o.Seconds)
	s.InFlightMean = addPointers(s.InFlightMean, o.InFlightMean, own, weight)
	s.ConversationsMean = addPointers(s.ConversationsMean, o.ConversationsMean, own, weight)
	s.InFlightMax = addPointers(s.InFlightMax, o.InFlightMax, 1, 1)
	s.Seconds = max(s.Seconds, o.Seconds)
	if s.Server == nil {
		s.Server = o.Server
	}
	s.ConversationStarts += o.ConversationStarts
	s.ConversationSkips += o.ConversationSkips
	s.ConversationsDue += o.ConversationsDue
	for i, b := range o.Blocks {
		if i < len(s.Blocks) {
			s.Blocks[i].add(b)
		} else {
			s.Blocks = append(s.Blocks, b)
		}
	}
}

// addPointers returns the weighted sum, nil if one is unknown.
func addPointers[N int | float64](a, b *N, weightA, weightB N) *N {
	if a == nil || b == nil {
		return nil
	}
	return new(*a*weightA + *b*weightB)
}

// Sum adds the blocks of results, without their tails. Seconds becomes the length of the longest block.
func Sum(results ...Result) (sum Block) {
	for _, r := range results {
		for _, b := range r.Blocks() {
			sum.add(b)
		}
	}
	return sum
}

// add adds a block of the same time: every count, value and sum of it.
func (b *Block) add(o Block) {
	seconds := max(b.Seconds, o.Seconds)
	addValues(reflect.ValueOf(b).Elem(), reflect.ValueOf(o))
	b.Seconds = seconds
}

// addValues adds the numbers, the sketches and the entries of maps of v to those of sum, field by field. A new field
// of a block is added, too. What is nil adds nothing.
func addValues(sum, v reflect.Value) {
	switch sum.Kind() {
	case reflect.Uint64:
		sum.SetUint(sum.Uint() + v.Uint())
	case reflect.Float64:
		sum.SetFloat(sum.Float() + v.Float())
	case reflect.Struct:
		for i := range sum.NumField() {
			addValues(sum.Field(i), v.Field(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if sum.IsNil() {
			sum.Set(reflect.New(sum.Type().Elem()))
		}
		if own, ok := sum.Interface().(*sketch.Sketch); ok {
			own.Merge(v.Interface().(*sketch.Sketch))
		} else {
			addValues(sum.Elem(), v.Elem())
		}
	case reflect.Map:
		if sum.IsNil() && !v.IsNil() {
			sum.Set(reflect.MakeMap(sum.Type()))
		}
		for key, value := range v.Seq2() {
			both := reflect.New(sum.Type().Elem()).Elem()
			if own := sum.MapIndex(key); own.IsValid() {
				both.Set(own)
			}
			addValues(both, value)
			sum.SetMapIndex(key, both)
		}
	default:
		panic("a block has a field of kind " + sum.Kind().String())
	}
}
