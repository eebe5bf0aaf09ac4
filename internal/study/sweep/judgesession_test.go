package sweep

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

// endSessions sends a session every second from before start until it has measured for length, and cuts the sessions
// that are in flight then. It sleeps until each end.
func endSessions(c *collector, start time.Time, before, length time.Duration, edit func(i int, sum *probe.Conversation)) {
	var all []probe.Conversation
	for i := range int((before + length) / time.Second) {
		sum := probe.Conversation{Sent: start.Add(time.Duration(i)*time.Second - before), Outcome: probe.Success, Turns: 2}
		edit(i, &sum)
		all = append(all, sum)
	}
	slices.SortStableFunc(all, func(a, b probe.Conversation) int { return a.End.Compare(b.End) })
	for _, sum := range all {
		if end := start.Add(length); sum.End.After(end) {
			time.Sleep(time.Until(end))
			c.finish(end)
			sum.End, sum.Outcome = sum.Sent, probe.Canceled // the end of its last turn
		}
		time.Sleep(time.Until(sum.End))
		c.conversationEnded(sum)
	}
}

// TestSessionsOfOneCohort judges a steady load in which every tenth session is too slow: so must be a tenth of the
// sessions that count, in each block.
func TestSessionsOfOneCohort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector([]slo.Objective{{Name: "session", SLI: slo.Session, Threshold: 5 * time.Minute, Objective: 0.9}}, 20*time.Second)
		start := time.Now().Add(time.Minute)
		c.beginTimed(start, 2, 5*time.Minute)
		var live runfile.Judged
		endSessions(c, start, time.Minute, 10*time.Minute, func(i int, sum *probe.Conversation) {
			sum.End = sum.Sent.Add(time.Minute)
			switch i % 20 {
			case 3:
				sum.End = sum.Sent.Add(6 * time.Minute)
			case 4:
				sum.Outcome = probe.HTTP5xx
			}
		})
		for _, b := range c.look(time.Now(), 1).Result.Blocks() {
			live.Good, live.Bad = live.Good+b.SLOs["session"].Good, live.Bad+b.SLOs["session"].Bad
		}
		snapshots, tail := c.snapshots()
		if tail != nil {
			t.Errorf("tail %+v", tail)
		}
		var sum runfile.Judged
		for _, s := range snapshots {
			for i, b := range s.Blocks {
				n := b.SLOs["session"]
				if n.Good+n.Bad > 1 && n != (runfile.Judged{Good: 18, Bad: 2, Failed: 1}) {
					t.Errorf("block %d of the snapshot at %s: %+v", i, s.Started, n)
				}
				sum.Good, sum.Bad = sum.Good+n.Good, sum.Bad+n.Bad
			}
		}
		if sum.Bad != 30 || sum.Good != 271 || live != sum {
			t.Errorf("%d good and %d bad sessions, want 271 and 30; during the measurement %+v", sum.Good, sum.Bad, live)
		}
	})
}

// TestSessionsAfterAnEarlyEnd ends a level before its planned end: sessions count whose time was over by then.
func TestSessionsAfterAnEarlyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector([]slo.Objective{{Name: "session", SLI: slo.Session, Threshold: time.Minute, Objective: 0.9}}, time.Second)
		start := time.Now()
		c.beginTimed(start, 1, time.Hour)
		endSessions(c, start, 0, 2*time.Minute, func(i int, sum *probe.Conversation) {
			if sum.End = sum.Sent.Add(time.Second); i%2 == 1 {
				sum.End = sum.Sent.Add(time.Hour)
			}
		})
		snapshots, _ := c.snapshots()
		var sum runfile.Judged
		for _, b := range snapshots[0].Blocks {
			sum.Good, sum.Bad = sum.Good+b.SLOs["session"].Good, sum.Bad+b.SLOs["session"].Bad
		}
		if sum.Good != 31 || sum.Bad != 30 {
			t.Errorf("%d good and %d bad sessions, want 31 and 30", sum.Good, sum.Bad)
		}
	})
}

// TestCountedSessions measures a number of conversations, all of which end: all count.
func TestCountedSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector([]slo.Objective{{Name: "session", SLI: slo.Session, Threshold: time.Minute, Objective: 0.9}}, time.Second)
		start := time.Now()
		c.beginCounted(start, 2, 10, func(time.Time) {})
		for i := range 10 {
			time.Sleep(2 * time.Second)
			c.conversationEnded(probe.Conversation{Sent: start.Add(time.Duration(i) * time.Second), End: time.Now(), Outcome: probe.Success, Turns: 2})
		}
		c.finish(time.Now())
		snapshots, _ := c.snapshots()
		good := uint64(0)
		for _, s := range snapshots {
			for _, b := range s.Blocks {
				good += b.SLOs["session"].Good
			}
		}
		if good != 10 {
			t.Errorf("%d good sessions, want 10", good)
		}
	})
}

// TestSessionsLeftOut counts the turns of sessions that only the prober may have made too long.
func TestSessionsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector([]slo.Objective{
			{Name: "session", SLI: slo.Session, Threshold: time.Minute, Objective: 0.9},
			{Name: "other", SLI: slo.Session, Threshold: time.Minute - time.Second, Objective: 0.5},
		}, time.Second)
		start := time.Now()
		c.beginTimed(start, 1, 2*time.Minute)
		time.Sleep(61 * time.Second)
		c.conversationEnded(probe.Conversation{Sent: start, End: time.Now(), Outcome: probe.Success, Turns: 7, Lag: 2 * time.Second})
		time.Sleep(59 * time.Second)
		c.finish(time.Now())
		snapshots, _ := c.snapshots()
		if b := snapshots[0].Blocks[0]; b.NotJudged != 7 || len(b.SLOs) != 0 {
			t.Errorf("%d turns not judged, SLOs %v; want 7 and none", b.NotJudged, b.SLOs)
		}
	})
}

// TestEarlyVerdictsLeaveSessions ends levels early for their turns, while only bad sessions are over: the objective on
// sessions stays undecided.
func TestEarlyVerdictsLeaveSessions(t *testing.T) {
	for _, c := range []struct {
		name      string
		good, bad uint64
		lost      string
		want      runfile.Standing
	}{
		{"too many bad turns", 50, 50, "", runfile.Missed},
		{"just as many bad turns as are allowed", 99, 1, "", runfile.Undecided},
		{"a dead target", 100, 0, "no turn succeeds any more", runfile.Missed},
		{"good turns", 200, 0, "", ""},
	} {
		w := &watcher{
			Judge: stats.Judge{Objectives: []runfile.Objective{{Name: "ttft", SLI: slo.TTFT, Objective: 0.99}, {Name: "session", SLI: slo.Session, Objective: 0.9}}, Confidence: 0.95},
			plan:  Plan{Measure: Measure{Snapshots: 1, Snapshot: 20 * time.Second}}, run: &runfile.Run{}, purpose: bracketing, began: time.Now().Add(-19 * time.Second),
		}
		seen := levelReport{TargetLost: c.lost, Result: runfile.Result{Level: 1, Snapshots: []runfile.Snapshot{{Seconds: 19}}}}
		for range 19 {
			seen.Result.Snapshots[0].Blocks = append(seen.Result.Snapshots[0].Blocks, runfile.Block{
				Seconds: 1, SLOs: map[string]runfile.Judged{"ttft": {Good: c.good, Bad: c.bad}, "session": {Bad: 5}},
			})
		}
		end := w.check(time.Now(), seen)
		if c.want == "" {
			if end != nil {
				t.Errorf("%s: ended with %+v", c.name, end.verdict)
			}
			continue
		}
		if end == nil {
			t.Errorf("%s: goes on", c.name)
			continue
		}
		v := end.verdict
		if i := slices.IndexFunc(v.SLOs, func(s runfile.SLOVerdict) bool { return s.Name == "session" }); v.SLOs[i].Standing != runfile.Undecided || slices.Contains(v.Lost, "session") || v.Standing != c.want {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}
