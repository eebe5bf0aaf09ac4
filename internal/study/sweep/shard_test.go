package sweep

import (
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runs"
)

// inShards runs a plan in shards against one deployment. The last one begins late.
func inShards(t *testing.T, plan fleet.Plan, dial *network, count int, late time.Duration) *runs.Run {
	t.Helper()
	parts := make([]*runs.Run, count)
	at := time.Now().Add(time.Minute)
	var all sync.WaitGroup
	for i := range count {
		dir := t.TempDir()
		all.Go(func() {
			if i == count-1 {
				time.Sleep(late)
			}
			var err error
			parts[i], err = Run(t.Context(), Options{Plan: plan, Dir: dir, Dial: dial.Dial, Shard: fleet.Shard{Index: i, Count: count}, StartAt: at})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	run, err := runs.Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	runs.Rejudge(run)
	return run
}

// sums returns the starts of conversations, the turns that succeeded, and the conversations in flight of a result.
func sums(r runs.Result) (starts, due uint64, succeeded, held float64) {
	for _, s := range r.Snapshots {
		starts, due, held = starts+s.ConversationStarts, due+s.ConversationsDue, held+*s.ConversationsMean/float64(len(r.Snapshots))
	}
	return starts, due, float64(outcomes(r)[probe.Success]), held
}

// TestShards: three shards together are one sweep: the same starts, to the conversation, in an open loop; the same
// load in a closed one.
func TestShards(t *testing.T) {
	open := small()
	open.OpenLoop, open.Levels, open.Arrival = true, []float64{2, 5}, workload.Arrival{Process: workload.Poisson}
	closed := small()
	closed.Levels = []float64{4, 8}
	for name, plan := range map[string]fleet.Plan{"open": open, "closed": closed} {
		synctest.Test(t, func(t *testing.T) {
			var net network
			defer net.serve(t, "a", simulate.New(quick()))()
			whole, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial})
			if err != nil {
				t.Fatal(err)
			}
			merged := inShards(t, plan, &net, 3, 0)
			if len(merged.Results) != 2 || merged.Shard.Count != 0 {
				t.Fatalf("%s: %d results of shard %s", name, len(merged.Results), merged.Shard)
			}
			for i, r := range merged.Results {
				starts, due, turns, held := sums(r)
				wantStarts, wantDue, wantTurns, wantHeld := sums(whole.Results[i])
				if plan.OpenLoop && (starts != wantStarts || due != wantDue || due == 0) {
					t.Errorf("%s, level %g: %d of %d due conversations started, in one process %d of %d", name, r.Level, starts, due, wantStarts, wantDue)
				}
				if math.Abs(turns/wantTurns-1) > 0.02 || math.Abs(held/wantHeld-1) > 0.02 {
					t.Errorf("%s, level %g: %g turns and %.2f in flight, in one process %g and %.2f", name, r.Level, turns, held, wantTurns, wantHeld)
				}
				if why := merged.NotReached(r); why != "" || !r.Verdict.Met || r.MissingShards != nil || r.State != runs.Complete {
					t.Errorf("%s, level %g: %s %q, %+v", name, r.Level, r.State, why, r.Verdict)
				}
			}
		})
	}
}

// TestLateShard: a shard that begins after a slot leaves out its level, and the merged run says so.
func TestLateShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		plan := small()
		plan.Levels = []float64{3, 6}
		run := inShards(t, plan, &net, 3, 90*time.Second)
		first, second := run.Results[0], run.Results[1]
		if len(first.MissingShards) != 1 || first.MissingShards[0] != 2 || !first.Verdict.Unjudged() || !strings.Contains(run.NotReached(first), "shards [2] did not measure it") {
			t.Errorf("the first level lacks shards %v: %s, %+v", first.MissingShards, run.NotReached(first), first.Verdict)
		}
		if second.MissingShards != nil || !second.Verdict.Met {
			t.Errorf("the second level lacks shards %v: %+v", second.MissingShards, second.Verdict)
		}
	})
}

// TestLateShardSendsNoLoad: between slots, a shard that begins late only asks whether the target is ready.
func TestLateShardSendsNoLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		var early atomic.Int32
		plan, sim := small(), simulate.New(quick())
		at := time.Now().Add(-30 * time.Second)
		defer net.serve(t, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if time.Now().Before(at.Add(slotOf(plan))) {
				early.Add(1)
			}
			sim.ServeHTTP(w, r)
		}))()
		run, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial, Shard: fleet.Shard{Count: 1}, StartAt: at})
		if err != nil || len(run.Results) != 1 {
			t.Fatal(err)
		}
		if n := early.Load(); n == 0 || n > 5 {
			t.Errorf("%d requests before the slot", n)
		}
	})
}

// TestNoSlotLeft: a shard that resumes after the last slot keeps its finished levels. Without any, it ends with an error.
func TestNoSlotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", simulate.New(quick()))()
		o := Options{Plan: small(), Dir: t.TempDir(), Dial: net.Dial, Shard: fleet.Shard{Count: 2}, StartAt: time.Now().Add(time.Minute)}
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		o.Resume = true
		if run, err := Run(t.Context(), o); err != nil || len(run.Results) != 2 {
			t.Errorf("%v after a resume of a finished shard", err)
		}
		o.Dir = t.TempDir()
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "choose a later --start-at") {
			t.Errorf("error %v", err)
		}
	})
}

// TestShardsRefuse: plans whose levels have no known length, and searches.
func TestShardsRefuse(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"runs in one process":         func(o *Options) { o.FindCapacity = true },
		"write measure.snapshot":      func(o *Options) { o.Plan.Measure = fleet.Measure{Conversations: 9} },
		"cannot be prime":             func(o *Options) { o.Plan.Cache.Policy = fleet.Prime },
		"cannot wait for a switch":    func(o *Options) { o.Plan.Variants[0].Switch = []string{"deploy"} },
		"concurrency 2 is less than":  func(o *Options) { o.Shard.Count = 3 },
		"max_concurrency 1 is less":   func(o *Options) { o.Plan.MaxConcurrency = 1 },
		"the last slot is over; name": func(o *Options) { o.StartAt = time.Now().Add(-time.Hour) },
	} {
		o := Options{Plan: small(), Dir: t.TempDir(), Shard: fleet.Shard{Count: 2}, StartAt: time.Now()}
		change(&o)
		if run, err := Run(t.Context(), o); run != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
