package sweep

import (
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// ended returns a turn with times relative to the start.
func ended(start time.Time, sent, end time.Duration, o probe.Outcome) probe.Result {
	r := probe.Result{
		Kind: probe.First, Sent: start.Add(sent), End: start.Add(end), Outcome: o,
		Asked: probe.Asked{Turn: 1, Scheduled: start.Add(sent)},
	}
	if o == probe.Success {
		r.TTFT, r.OutputTokens = probe.Some(100*time.Millisecond), probe.Some(10)
	}
	return r
}

// TestCollectorPlaces checks where turns at and around every edge are counted, whatever the order of results.
func TestCollectorPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector([]slo.Objective{{Name: "up", SLI: slo.Availability, Objective: 0.9}}, time.Second)
		start := time.Now().Add(time.Minute)
		for range 7 {
			c.Observe(probe.Start{})
		}
		time.Sleep(time.Minute)
		c.begin(start, 2, 2*time.Second)
		time.Sleep(4 * time.Second)
		c.finish(start.Add(4 * time.Second))
		for _, r := range []probe.Result{
			ended(start, -3*time.Second, -time.Nanosecond, probe.Success),       // warm-up
			ended(start, -time.Second, 0, probe.Success),                        // first block
			ended(start, 0, 999*time.Millisecond, probe.HTTP5xx),                // first block
			ended(start, 0, 2*time.Second-1, probe.Success),                     // second block
			ended(start, time.Second, 2*time.Second, probe.Success),             // second snapshot
			ended(start, time.Second, 4*time.Second, probe.TimeoutFirstToken),   // tail
			ended(start, 3*time.Second, 4*time.Second+time.Hour, probe.Success), // tail
		} {
			c.Observe(r)
		}
		snapshots, tail := c.snapshots()
		var got []uint64
		for _, s := range snapshots {
			for _, b := range s.Blocks {
				n := uint64(0)
				for _, k := range b.Outcomes {
					n += k
				}
				got = append(got, n)
			}
		}
		if want := []uint64{2, 1, 1, 0}; len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
			t.Errorf("turns per block %v, want %v", got, want)
		}
		if tail.Outcomes[probe.Success] != 1 || tail.Outcomes[probe.TimeoutFirstToken] != 1 {
			t.Errorf("tail %v", tail.Outcomes)
		}
		// 0.999 + 2 + 1 + 1 s in the first 2 s, 0 + 2 + 1 s in the second 2 s.
		if a, b := *snapshots[0].InFlightMean, *snapshots[1].InFlightMean; a < 2.499 || a > 2.5 || b != 1.5 {
			t.Errorf("mean in flight %.4f and %.4f, want 2.4995 and 1.5", a, b)
		}
		// The tail's failure counts, its success does not.
		sum := runs.Count(runs.Judge{Objectives: []slo.Objective{{Name: "up"}}}.TurnsOf(runs.Result{Snapshots: snapshots, Tail: tail})["up"])
		if sum.Good != 3 || sum.Bad != 2 {
			t.Errorf("%+v, want 3 good and 2 bad", sum)
		}
	})
}

// TestCollectorTruncates ends a measurement within a snapshot.
func TestCollectorTruncates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(nil, time.Second)
		start := time.Now()
		c.begin(start, 3, 10*time.Second)
		time.Sleep(12500 * time.Millisecond)
		c.finish(time.Now())
		snapshots, tail := c.snapshots()
		if len(snapshots) != 2 || tail != nil {
			t.Fatalf("%d snapshots, tail %v; want 2 and none", len(snapshots), tail)
		}
		s := snapshots[1]
		if s.Seconds != 2.500001 || len(s.Blocks) != 3 || s.Blocks[2].Seconds != 0.500001 {
			t.Errorf("%g s in %d blocks, want 2.5 s in 3, the last of 0.5 s", s.Seconds, len(s.Blocks))
		}
	})
}

// TestStreak distinguishes a dead target from a busy or slow one.
func TestStreak(t *testing.T) {
	start := time.Now()
	feed := func(n int, o probe.Outcome) *streak {
		s := &streak{}
		for i := range n {
			s.add(new(ended(start, 0, time.Duration(i)*time.Second, o)))
		}
		return s
	}
	later := start.Add(time.Minute)
	for _, o := range []probe.Outcome{probe.ConnectError, probe.HTTP5xx, probe.Truncated} {
		if feed(lostTurns, o).targetLost(later) == "" {
			t.Errorf("%d turns in a row ended as %s, and the target is not lost", lostTurns, o)
		}
	}
	for _, o := range []probe.Outcome{probe.HTTP429, probe.TimeoutFirstToken, probe.Stall, probe.Success} {
		if why := feed(100, o).targetLost(later); why != "" {
			t.Errorf("%s: %s", o, why)
		}
	}
	s := feed(lostTurns, probe.ConnectError)
	s.add(new(ended(start, 0, 0, probe.UserCanceled)))
	if s.targetLost(later) == "" {
		t.Error("a user who left took a dead target for alive")
	}
	if s.targetLost(start.Add(lostAfter-1)) != "" {
		t.Error("lost too soon")
	}
	s.add(new(ended(start, 0, 0, probe.Success)))
	s.add(new(ended(start, 0, 0, probe.ConnectError)))
	if s.targetLost(later) != "" {
		t.Error("a success in between does not count")
	}
}

// TestLookLeavesOutWhoLeft: the counts during the measurement are those of a report.
func TestLookLeavesOutWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(nil, time.Second)
		start := time.Now()
		c.begin(start, 1, time.Minute)
		time.Sleep(10 * time.Second)
		c.Observe(ended(start, time.Second, 2*time.Second, probe.Success))
		c.Observe(ended(start, time.Second, 9*time.Second, probe.UserCanceled))
		if s, lost, _ := c.look(time.Now()); s.Turns != 1 || lost != "" {
			t.Errorf("%d turns, lost %q", s.Turns, lost)
		}
	})
}
