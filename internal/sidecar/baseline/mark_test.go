package baseline

import (
	"testing"
	"time"

	"synthetic/internal/sidecar/sink"
)

// TestMark checks that the jobs of the targets that a mark concerns keep the newest one about a
// deployment.
func TestMark(t *testing.T) {
	tracker := NewTracker(TrackerOptions{Now: func() time.Time { return monday.Add(day) }})
	add := func(target string) *job {
		info := sink.Job{}
		info.Target.Name, info.Workload.Name = target, "chat"
		tracker.Add(info)
		return tracker.jobs[info.Key()]
	}
	east, pod := add("east"), add("pods/a")
	tracker.Mark(sink.Mark{Source: sink.MarkDeploy, At: monday, Text: "all"})
	tracker.Mark(sink.Mark{Source: sink.MarkRollout, At: monday.Add(time.Hour), Target: "pods", Text: "of a group"})
	tracker.Mark(sink.Mark{Source: sink.MarkVersion, At: monday.Add(-time.Hour), Target: "east", Text: "late news"})
	for _, other := range []sink.MarkSource{sink.MarkStart, sink.MarkReload, sink.MarkIncident, sink.MarkModel, sink.MarkRestart} {
		tracker.Mark(sink.Mark{Source: other, At: monday.Add(2 * time.Hour), Text: "no deployment"})
	}
	for j, want := range map[*job]time.Time{east: monday, pod: monday.Add(time.Hour), add("west"): {}} {
		if !j.marked.Equal(want) {
			t.Errorf("%s is marked at %v, want %v", j.key.Target, j.marked, want)
		}
	}
}

// TestMarkAfterAClockStep checks that a mark counts on the clock of the job, which knows no steps of the wall clock.
func TestMarkAfterAClockStep(t *testing.T) {
	begin := time.Now() // with a monotonic reading
	now := begin
	tracker := NewTracker(TrackerOptions{Now: func() time.Time { return now }})
	info := sink.Job{}
	info.Target.Name, info.Workload.Name = "east", "chat"
	tracker.Add(info)
	j := tracker.jobs[info.Key()]
	j.wall(begin)
	for _, by := range []time.Duration{48 * time.Hour, -time.Hour} {
		marked := set(now.Add(time.Hour), by)
		now = marked.Add(time.Minute)
		tracker.Mark(sink.Mark{Source: sink.MarkDeploy, At: marked, Text: "release"})
		if ago := j.wall(now).Sub(j.marked); ago != time.Minute {
			t.Errorf("after a step by %v, a mark of a minute ago is %v old", by, ago)
		}
	}
}
