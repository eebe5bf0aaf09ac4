package load

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
)

type startedConversation struct {
	at time.Duration
	id uint64
}

// starts runs all shards of a load at the same time, each with its own source, and returns what
// each started.
func starts(t *testing.T, shards int, length time.Duration, newLoop func() *Loop) (all [][]startedConversation) {
	t.Helper()
	all = make([][]startedConversation, shards)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var running sync.WaitGroup
		for i := range shards {
			source, err := workload.NewSource(workload.Spec{TurnsMax: 1, PromptTokens: 5, FollowupTokens: 5}, 7)
			if err != nil {
				t.Fatal(err)
			}
			l := newLoop()
			l.End = begin.Add(length)
			l.Shard, l.SkipNext = Shard{i, shards}, func() { source.Skip() }
			l.OnSkip = func(time.Time, string) { t.Error("a start was skipped") }
			l.Next = func(time.Time) (func() probe.Outcome, string) {
				c := source.Next()
				all[i] = append(all[i], startedConversation{time.Since(begin), c.ID})
				return func() probe.Outcome { // some conversations take longer
					time.Sleep(time.Duration(500+c.ID*37%400) * time.Millisecond)
					return probe.Success
				}, ""
			}
			running.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), length)
				defer cancel()
				l.Run(ctx)
			})
		}
		running.Wait()
	})
	return all
}

// union sorts the conversations of all shards. It fails if two shards started the same one.
func union(t *testing.T, shards [][]startedConversation) []startedConversation {
	t.Helper()
	all := slices.Concat(shards...)
	slices.SortFunc(all, func(a, b startedConversation) int { return int(a.id) - int(b.id) })
	for i := range all[1:] {
		if all[i].id == all[i+1].id {
			t.Fatalf("conversation %d is in two parts", all[i].id)
		}
	}
	return all
}

// TestShardsOfAnOpenLoad checks that up to eight shards start the same conversations at the same
// times as one process.
func TestShardsOfAnOpenLoad(t *testing.T) {
	for _, process := range []workload.Process{workload.Poisson, workload.Gamma, workload.Constant} {
		for _, limit := range []int{0, 150} {
			newLoop := func() *Loop {
				return &Loop{Arrival: workload.Arrival{Process: process, Rate: 5, Burstiness: 0.5}, Seed: 3, Limit: limit}
			}
			want := union(t, starts(t, 1, time.Minute, newLoop))
			if len(want) < 150 {
				t.Fatalf("%s: %d starts", process, len(want))
			}
			for n := 2; n <= 8; n++ {
				if got := union(t, starts(t, n, time.Minute, newLoop)); !slices.Equal(got, want) {
					t.Errorf("%s, %d parts: %d starts, other than the %d of one process", process, n, len(got), len(want))
				}
			}
		}
	}
}

// TestSuspendedLoadEndsOnTime checks a process that is suspended when its load ends: it starts what
// was due in the last second, and nothing after a stop.
func TestSuspendedLoadEndsOnTime(t *testing.T) {
	const whole = time.Hour
	for _, c := range []struct {
		still, stop   time.Duration
		starts, skips int
	}{
		{0, whole, 10, 0}, {400 * time.Millisecond, whole, 10, 0}, {2500 * time.Millisecond, whole, 10, 0},
		{3 * time.Second, whole, 9, 1}, {30 * time.Minute, whole, 8, 2}, {3 * time.Second, 9 * time.Second, 8, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), c.stop)
			defer stop()
			started, skipped := 0, 0
			begin := time.Now()
			l := &Loop{
				Arrival: workload.Arrival{Process: workload.Constant, Rate: 1}, End: begin.Add(10 * time.Second),
				OnSkip: func(_ time.Time, reason string) {
					if skipped++; reason != probe.SkipLate {
						t.Errorf("skipped for %s", reason)
					}
				},
				Next: func(time.Time) (func() probe.Outcome, string) {
					if started++; started == 8 {
						time.Sleep(c.still)
					}
					return func() probe.Outcome { return probe.Success }, ""
				},
			}
			l.Run(ctx)
			if started != c.starts || skipped != c.skips {
				t.Errorf("%+v: %d starts, %d skipped, the last at %s", c, started, skipped, time.Since(begin))
			}
		})
	}
}

// TestShardsOfAClosedLoad checks that the shards open the same slots at the same times as one
// process and run the same conversations.
func TestShardsOfAClosedLoad(t *testing.T) {
	for n := 1; n <= 8; n++ {
		newLoop := func() *Loop {
			return &Loop{Arrival: workload.Arrival{Process: workload.Closed, Concurrency: 5}, StartRate: 50, Limit: 100}
		}
		shards := starts(t, n, time.Hour, newLoop)
		all := union(t, shards)
		if len(all) != 100 || all[99].id != 99 {
			t.Errorf("%d parts: %d conversations up to %d, want 0 … 99", n, len(all), all[len(all)-1].id)
		}
		slices.SortFunc(all, func(a, b startedConversation) int { return int(a.at - b.at) })
		for slot := range 5 {
			if want := time.Duration(slot) * 20 * time.Millisecond; all[slot].at != want {
				t.Errorf("%d parts: start %d at %s, want %s", n, slot, all[slot].at, want)
			}
		}
		slots := 0
		for i := range n {
			share := (Shard{i, n}).Slots(5)
			if slots += share; share < 5/n || share > 5/n+1 || i > 0 && share > (Shard{i - 1, n}).Slots(5) {
				t.Errorf("part %d of %d has %d of 5 slots", i, n, share)
			}
			l := newLoop()
			l.Shard = Shard{i, n}
			if got := l.CountOwned(100); got != len(shards[i]) || math.Abs(float64(got)-20*float64(share)) > 1 {
				t.Errorf("part %d of %d with %d slots: %d conversations, started %d", i, n, share, got, len(shards[i]))
			}
		}
		if slots != 5 {
			t.Errorf("%d parts have %d slots, want 5", n, slots)
		}
	}
}

// TestShardsStayPoisson checks with a Kolmogorov-Smirnov test that the intervals of a shard are
// exponential, and that the counts of two shards are independent.
func TestShardsStayPoisson(t *testing.T) {
	const shards, n, rate = 4, 40_000, 8.0
	next := workload.NewSchedule(workload.Arrival{Process: workload.Poisson, Rate: rate}, 11, 0).Next
	var thinned, fourth []float64
	var before, beforeFourth time.Duration
	counts := [2][]float64{}
	for k := range n {
		at := next()
		for i := range counts {
			for len(counts[i]) <= int(at.Seconds())/10 {
				counts[i] = append(counts[i], 0)
			}
			if (Shard{i, shards}).OwnsStart(11, k) {
				counts[i][int(at.Seconds())/10]++
			}
		}
		if (Shard{0, shards}).OwnsStart(11, k) {
			thinned, before = append(thinned, (at-before).Seconds()), at
		}
		if k%shards == 0 {
			fourth, beforeFourth = append(fourth, (at-beforeFourth).Seconds()), at
		}
	}
	limit := func(x []float64) float64 { return 1.63 / math.Sqrt(float64(len(x))) } // at the 1 % level
	if d := distance(thinned, rate/shards); d > limit(thinned) {
		t.Errorf("a part: distance %.4f from the exponential, want below %.4f", d, limit(thinned))
	}
	if d := distance(fourth, rate/shards); d < 3*limit(fourth) {
		t.Errorf("every fourth start: distance %.4f, which the test should tell", d)
	}
	if r := correlation(counts[0], counts[1]); math.Abs(r) > 3/math.Sqrt(float64(len(counts[0]))) {
		t.Errorf("the counts of two parts correlate with %.3f over %d intervals", r, len(counts[0]))
	}
}

// distance returns the largest distance between the distribution of x and the exponential
// distribution.
func distance(x []float64, rate float64) (d float64) {
	slices.Sort(x)
	for i, v := range x {
		f := 1 - math.Exp(-rate*v)
		d = max(d, f-float64(i)/float64(len(x)), float64(i+1)/float64(len(x))-f)
	}
	return d
}

func correlation(a, b []float64) float64 {
	var ma, mb, saa, sbb, sab float64
	for i := range a {
		ma, mb = ma+a[i]/float64(len(a)), mb+b[i]/float64(len(a))
	}
	for i := range a {
		saa, sbb, sab = saa+(a[i]-ma)*(a[i]-ma), sbb+(b[i]-mb)*(b[i]-mb), sab+(a[i]-ma)*(b[i]-mb)
	}
	return sab / math.Sqrt(saa*sbb)
}

// TestShardsShareTheirCap checks that the shards divide MaxConcurrency, and that a start skipped
// by one shard does not move to another.
func TestShardsShareTheirCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken, skipped, passed := 0, 0, 0
		l := &Loop{
			Arrival: workload.Arrival{Process: workload.Constant, Rate: 1}, MaxConcurrency: 4, Limit: 100, Shard: Shard{1, 3},
			SkipNext: func() { passed++ },
			OnSkip:   func(time.Time, string) { skipped++ },
			Next: func(time.Time) (func() probe.Outcome, string) {
				taken++
				return func() probe.Outcome { time.Sleep(time.Hour); return probe.Success }, ""
			},
		}
		l.Run(t.Context())
		if got, own := fmt.Sprint(taken, taken+passed), (&Loop{Arrival: l.Arrival, Shard: l.Shard}).CountOwned(100); got != "1 100" || skipped != own-1 {
			t.Errorf("taken, and all: %s, skipped %d of %d", got, skipped, own)
		}
	})
}
