package sweep

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/study/runfile"
)

// three returns a load in three parts with equal clocks.
func three() ([]shardRun, []*shardLog) {
	m := newModel(1, runfile.Concurrency, true)
	return m.split(make([]time.Duration, 3), func(x turn) int { return x.slot % 3 })
}

func TestMergeRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(p []shardRun) []shardRun
		want   string
	}{
		"a shard is missing":  {func(p []shardRun) []shardRun { return []shardRun{p[2], p[0]} }, "shard 1 of 3 is missing"},
		"two are missing":     {func(p []shardRun) []shardRun { return p[1:2] }, "shard 0 and 2 of 3 is missing"},
		"one of another plan": {func(p []shardRun) []shardRun { p[1].Run.Plan.SHA256 = "bb"; return p }, "shard-0 and shard-1 are not of one sweep: their plans differ (sha256 aa…, bb…)"},
		"one of other files": {func(p []shardRun) []shardRun {
			p[2].Run.Workload.Parameters = append(slices.Clone(p[2].Run.Workload.Parameters), runfile.Parameter{Name: "trace", Value: "other"})
			return p
		}, "their workloads differ"},
		"one of another seed":  {func(p []shardRun) []shardRun { p[2].Run.Seed = 8; return p }, "their seeds are 7 and 8"},
		"one of another count": {func(p []shardRun) []shardRun { p[2].Run.Shard.Count = 4; return p }, "they are shard 0 of 3 and shard 2 of 4"},
		"one of another sweep": {func(p []shardRun) []shardRun { p[2].Run.Shard.Sweep = "b"; return p }, "they are of two sweeps of one plan (, b)"},
		"one index twice":      {func(p []shardRun) []shardRun { p[2].Run.Shard.Index = 1; return p }, "shard-1 and shard-2 are both shard 1 of 3"},
		"an index beyond":      {func(p []shardRun) []shardRun { p[2].Run.Shard.Index = 3; return p }, "says that it is shard 3 of 3"},
		"no shard":             {func(p []shardRun) []shardRun { p[1].Run.Shard = nil; return p }, "shard-1 is not a shard: it carried the whole load by itself; pool repetitions with report average"},
		"a copy under another index": {func(p []shardRun) []shardRun {
			copied := *p[1].Run
			copied.Shard = p[2].Run.Shard
			p[2].Run = &copied
			return p
		}, "shard-1 and shard-2 hold the same measurement"},
	} {
		parts, _ := three()
		if _, err := mergeRuns(tt.change(parts)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestTurnsTwice: the turn log of another shard is rejected.
func TestTurnsTwice(t *testing.T) {
	parts, logs := three()
	_, again := three()
	logs[2].Next = again[1].Next
	whole, err := mergeRuns(parts)
	if err != nil {
		t.Fatal(err)
	}
	if err := mergeTurns(io.Discard, logs, whole); err == nil || !strings.Contains(err.Error(), "shard-1 and shard-2 have the same turn") {
		t.Errorf("a log that is there twice: %v", err)
	}
}

// TestNotReached: if one shard lacks a part of a level, the whole did not reach it, names the
// shard and proves nothing. The other level is unchanged.
func TestNotReached(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(r *runfile.Run)
		want   string
	}{
		"killed before it": {func(r *runfile.Run) { r.Results, r.Interrupted = r.Results[:1], "it was killed" }, "shard 1 of 3 did not measure it; continue its sweep with --resume"},
		"stopped in it": {func(r *runfile.Run) {
			r.Results[1].State, r.Results[1].Why = runfile.Interrupted, "the sweep was stopped"
		}, "shard 1 of 3 did not complete it: the sweep was stopped"},
		"ended early alone": {func(r *runfile.Run) {
			r.Results[1].State, r.Results[1].Why = runfile.EndedEarly, "no turn succeeds any more"
		},
			"shard 1 of 3 did not complete it: no turn succeeds any more"},
		"half its load": {func(r *runfile.Run) {
			for i := range r.Results[1].Snapshots {
				*r.Results[1].Snapshots[i].ConversationsMean /= 2
			}
		}, "shard 1 of 3: 2.0 of 4 were in flight"},
		"its barrier said so": {func(r *runfile.Run) { r.Results[1].Unreached = "shard 2 fell behind" }, "shard 1 of 3: shard 2 fell behind"},
		"lost by the others": {func(r *runfile.Run) {
			r.Results[1].State, r.Results[1].Lost = runfile.EndedEarly, []runfile.LostShard{{Index: 2, Why: "no sign of life for 10s"}}
		}, "shard 2 (no sign of life for 10s) did not carry its part to the end"},
		"at another time": {func(r *runfile.Run) { r.Results[1].Shift(-10 * time.Second) }, "the shards measured it at the same time for only 22s of 42s"},
	} {
		t.Run(name, func(t *testing.T) {
			parts, logs := three()
			tt.change(parts[1].Run)
			got, _ := joined(t, parts, logs, rand.New(rand.NewPCG(1, 1)))
			lower, upper := got.Results[0], got.Results[1]
			if lower.Level != 8 { // a shard that began earlier
				lower, upper = upper, lower
			}
			if why := got.NotReached(upper); !strings.Contains(why, tt.want) {
				t.Errorf("not reached: %q, want %q", why, tt.want)
			}
			if !upper.Verdict.Unjudged() || got.NotReached(lower) != "" || lower.Verdict.Unjudged() {
				t.Errorf("verdicts %+v and %+v", lower.Verdict, upper.Verdict)
			}
			if c := got.Capacities[0]; len(c.NotReached) != 1 || c.NotReached[0] != 12 {
				t.Errorf("the capacity says %s", c.Sentence("concurrency"))
			}
		})
	}
}

// TestReachedTogether: the total load decides whether a level is reached, although one shard
// lacked a little of its part.
func TestReachedTogether(t *testing.T) {
	parts, logs := three()
	for i := range parts[1].Run.Results[1].Snapshots {
		*parts[1].Run.Results[1].Snapshots[i].ConversationsMean *= 0.9
	}
	if parts[1].Run.NotReached(parts[1].Run.Results[1]) == "" {
		t.Fatal("the part itself is reached")
	}
	got, _ := joined(t, parts, logs, rand.New(rand.NewPCG(1, 1)))
	for _, x := range got.Results {
		if why := got.NotReached(x); why != "" || x.Verdict.Unjudged() {
			t.Errorf("level %g: not reached %q, verdict %+v", x.Level, why, x.Verdict)
		}
	}
}

// TestDecidedTogether: a common early decision of all shards stays.
func TestDecidedTogether(t *testing.T) {
	parts, logs := three()
	for _, p := range parts {
		x := &p.Run.Results[1]
		x.State, x.Why = runfile.EndedEarly, "doomed"
		x.Verdict = &runfile.LevelVerdict{Standing: runfile.Missed, Lost: []string{"tpot"}, Decided: runfile.DecidedEarly, Error: 0.1}
	}
	got, _ := joined(t, parts, logs, rand.New(rand.NewPCG(1, 1)))
	x := got.Results[1]
	if v := x.Verdict; x.State != runfile.EndedEarly || v.Standing != runfile.Missed || v.Decided != runfile.DecidedEarly || v.Error != 0.1 || len(v.Lost) != 1 {
		t.Errorf("%s, %+v", x.State, v)
	}
	if m := got.Capacities[0].Missed; m == nil || *m != 12 {
		t.Errorf("the capacity says %s", got.Capacities[0].Sentence("concurrency"))
	}
}
