package metrics

import (
	"maps"
	"slices"
	"testing"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/baseline"
)

func targetsOf(keys []probe.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Target)
	}
	return out
}

// TestHistories: what was kept of a job waits for it, and a job that has none is
// said to until it was handed some.
func TestHistories(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "east", "west", "north")
	if got := slices.Collect(maps.Keys(maps.Collect(r.Histories()))); len(got) != 3 {
		t.Errorf("histories of %v", got)
	}
	kept := baseline.NewJob(baseline.Options{}).History()
	histories := map[probe.Key][]byte{}
	for _, j := range jobs("west", "south") {
		histories[j.Key()] = kept
	}
	r.RestoreHistories(histories)
	if got := targetsOf(r.Forgetful()); !slices.Equal(got, []string{"east", "north"}) {
		t.Errorf("no history have %v", got)
	}
	for _, j := range jobs("south") {
		r.Add(j)
	}
	if got := targetsOf(r.Forgetful()); !slices.Equal(got, []string{"east", "north"}) || len(histories) > 0 {
		t.Errorf("with a job that came later, no history have %v; %d wait", got, len(histories))
	}
	r.Backfill(jobs("east")[0].Key(), 0, 0, []baseline.Minute{{At: start, Turns: 3, Mean: -1, Baseline: -1}})
	r.Backfill(probe.Key{Target: "none"}, 0, 0, nil)
	if got := targetsOf(r.Forgetful()); !slices.Equal(got, []string{"north"}) {
		t.Errorf("after one was filled, no history have %v", got)
	}
}

// TestAwaitedJobsAreKept: what was known of a job that may still come is not
// forgotten by a process that saves before it comes.
func TestAwaitedJobsAreKept(t *testing.T) {
	r := NewRecorder(Options{Awaited: func(target string) bool { return target == "m/late" }})
	r.RestoreBaselines(baseline.File{Jobs: []baseline.JobState{{Target: "m/late", Workload: "w"}, {Target: "gone", Workload: "w"}}})
	r.RestoreHistories(map[probe.Key][]byte{{Target: "m/late", Workload: "w"}: {1}, {Target: "gone", Workload: "w"}: {1}})
	if jobs := r.Baselines().Jobs; len(jobs) != 1 || jobs[0].Target != "m/late" {
		t.Errorf("kept %v", jobs)
	}
	if got := targetsOf(slices.Collect(maps.Keys(maps.Collect(r.Histories())))); !slices.Equal(got, []string{"m/late"}) {
		t.Errorf("kept the histories of %v", got)
	}
}

// TestAccept names what is accepted, by target and workload.
func TestAccept(t *testing.T) {
	c := &clock{start}
	r := newTestRecorder(c, "east", "west")
	if got := r.Accept("north", "", start); got != nil {
		t.Errorf("of a target that is not there: %+v", got)
	}
	if got := r.Accept("east", "other", start); got != nil {
		t.Errorf("of a workload that is not there: %+v", got)
	}
	got := r.Accept("east", "", start.Add(-acceptLast*4))
	if len(got) != 1 || got[0].Key.Target != "east" || !got[0].Since.Equal(start.Add(-acceptLast*4)) {
		t.Errorf("got %+v", got)
	}
	if got := r.Accept("west", "chat", got[0].Since.Add(0)); len(got) != 1 {
		t.Errorf("by workload: %+v", got)
	}
	if names := r.Names(); !slices.Equal(names, []string{"east", "west"}) {
		t.Errorf("names %q", names)
	}
}
