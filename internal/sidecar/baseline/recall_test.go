package baseline

import (
	"fmt"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/sidecar/sink"
)

// recalling returns a job whose answers were right 1,200 times and then wrong some times.
func recalling(wrong int) *feed {
	f := newFeed(options{})
	for i := range 1200 + wrong {
		f.now = f.now.Add(10 * time.Second)
		r := success(time.Second)
		r.Turn, r.TraceID, r.Recall = 2, fmt.Sprint(i), probe.Recall{Result: recall.Right}
		if i >= 1200 {
			r.Recall.Result = recall.Wrong
		}
		f.observe(r, f.now)
	}
	return f
}

// TestTwinsAreNotTurns: a twin reaches the test of recall, and nothing else.
func TestTwinsAreNotTurns(t *testing.T) {
	f, c := recalling(20), &clock{start}
	tracker := newTracker(c, "east")
	c.now = f.now
	j := tracker.lock(probe.Key{Target: "east", Workload: "chat"})
	j.recall = f.recall
	j.mu.Unlock()
	before, _ := tracker.Read(j.key)
	sent := c.now.Add(time.Second)
	tracker.Observe(probe.Twin{Target: "east", Workload: "chat", TraceID: "t", Turn: 2, Sent: sent, Cached: recall.Wrong, Cold: recall.Right})
	for _, noResult := range []recall.Result{"", recall.Foreign} {
		tracker.Observe(probe.Twin{Target: "east", Workload: "chat", TraceID: "t", Turn: 2, Sent: sent, Cached: recall.Wrong, Cold: noResult})
	}
	after, _ := tracker.Read(j.key)
	if after.Recall.Twins != (recall.Pairs{OnlyCached: 1}) || after.Failures != before.Failures || after.Recall.Usual != before.Recall.Usual {
		t.Errorf("%+v, then %+v", before, after)
	}
	if sign := tracker.Sign(j.key); !sign.NeedsTwins || sign.TwinShare() != 1 {
		t.Errorf("an alarm needs twins: %+v", sign)
	}
	if j.recall.Twins.Attempts != 3 {
		t.Errorf("%d attempts, want 3", j.recall.Twins.Attempts)
	}
	j.changes = []sink.Change{{From: c.now.Add(-time.Hour), To: c.now.Add(time.Hour)}}
	if sign := tracker.Sign(j.key); sign.TwinShare() != 0 {
		t.Errorf("twins in a change window: %+v", sign)
	}
}

// TestRestoreRecall: an alarm about wrong answers survives a restart, but not an hour without a process. What was
// learned survives both.
func TestRestoreRecall(t *testing.T) {
	f := recalling(20)
	if f.recall.Reading().Score < 1 {
		t.Fatalf("no alarm to save: %+v", f.recall.Reading())
	}
	for after, want := range map[time.Duration]bool{time.Minute: true, 61 * time.Minute: false, 30 * day: false} {
		again := newFeed(options{})
		again.restore(f.state(f.now), f.now.Add(after))
		if r := again.recall.Reading(); (r.Score == 1) != want || r.Since.IsZero() == want || r.Usual.Turns < 1000 {
			t.Errorf("after %v: %+v", after, r)
		}
	}
}

// TestAcceptOfWrongAnswers: Accept learns recall again only if more answers than usual are wrong.
func TestAcceptOfWrongAnswers(t *testing.T) {
	for wrong, want := range map[int]bool{0: false, 20: true} {
		f := recalling(wrong)
		if a := f.accept(time.Time{}, f.now); a.Relearns != want || (f.recall.Reading().Usual.Turns == 0) != want {
			t.Errorf("%d wrong answers: %+v, then %+v", wrong, a, f.recall.Reading())
		}
	}
}

// TestEvidenceOfWrongAnswersExpires: an hour after the last judged turn, there is no sign of wrong answers.
func TestEvidenceOfWrongAnswersExpires(t *testing.T) {
	f, c := recalling(2), &clock{start}
	tracker := newTracker(c, "east")
	c.now = f.now
	j := tracker.lock(probe.Key{Target: "east", Workload: "chat"})
	j.recall = f.recall
	j.mu.Unlock()
	c.now = f.now.Add(time.Minute)
	if sign := tracker.Sign(j.key); sign.Wrong < 0.2 {
		t.Errorf("after a minute: %+v", sign)
	}
	c.now = f.now.Add(62 * time.Minute)
	if sign := tracker.Sign(j.key); sign.Wrong > 0 {
		t.Errorf("after 62 minutes: %+v", sign)
	}
}
