package baseline

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// start is the time at which the tests of the tracker begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// newTracker returns a tracker with one job per target.
func newTracker(c *clock, targets ...string) *Tracker {
	r := NewTracker(TrackerOptions{Now: c.Now})
	for _, j := range jobs(targets...) {
		r.Add(j)
	}
	return r
}

func jobs(targets ...string) (out []sink.Job) {
	for _, name := range targets {
		var j sink.Job
		j.Target.Name, j.Workload.Name = name, "chat"
		out = append(out, j)
	}
	return out
}

// TestSign checks the number of consecutive failures. A refusal for load ends the sign but not
// the count. After it, and after many failures, a hanging turn is no sign either.
func TestSign(t *testing.T) {
	r := newTracker(&clock{start}, "a")
	key := probe.Key{Target: "a", Workload: "chat"}
	for _, next := range []struct {
		outcome probe.Outcome
		want    int
		known   bool
	}{
		{probe.HTTP5xx, 1, false}, {probe.HTTP5xx, 2, false}, {probe.Canceled, 2, false}, {probe.HTTP429, 0, true}, {probe.Canceled, 0, true},
		{probe.HTTP5xx, 3, false}, {probe.Success, 0, false}, {probe.HTTP429, 0, true}, {probe.Success, 0, false},
	} {
		r.Observe(probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: next.outcome, End: start})
		if got := r.Sign(key); got.Failed != next.want || got.Known != next.known {
			t.Errorf("after %s the sign is %+v, want %d failures and known %v", next.outcome, got, next.want, next.known)
		}
	}
	for range workload.MaxNewFailures {
		r.Observe(probe.Result{Target: "a", Workload: "chat", Kind: probe.First, Outcome: probe.Stall, End: start})
	}
	if !r.Sign(key).Known {
		t.Error("an outage of ten turns is not known")
	}
	if got := r.Sign(probe.Key{Target: "none"}); got.Failed != 0 || got.Score != 0 {
		t.Errorf("an unknown job has the sign %+v", got)
	}
}

// TestStrictest checks that the lowest threshold that covers the turns is used, with its
// budget.
func TestStrictest(t *testing.T) {
	objectives := []slo.Objective{
		{SLI: slo.TTFT, Threshold: 2 * time.Second, Objective: 0.9},
		{SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
		{SLI: slo.TPOT, Threshold: time.Millisecond, Objective: 0.5, Turns: []probe.TurnKind{probe.Followup}},
	}
	key := probe.Key{Target: "a", Workload: "chat"}
	if threshold, budget := strictest(objectives, slo.TTFT, key, probe.First); threshold != time.Second || math.Abs(budget-0.01) > 1e-9 {
		t.Errorf("TTFT: %v with budget %v", threshold, budget)
	}
	if threshold, budget := strictest(objectives, slo.TPOT, key, probe.First); threshold != 0 || budget != 0 {
		t.Errorf("TPOT of first turns: %v with budget %v, want none", threshold, budget)
	}
}

func targetsOf(keys []probe.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Target)
	}
	return out
}

// TestHistories checks that a saved history waits for its job.
func TestHistories(t *testing.T) {
	r := newTracker(&clock{start}, "east", "west", "north")
	if got := slices.Collect(maps.Keys(maps.Collect(r.Histories()))); len(got) != 3 {
		t.Errorf("histories of %v", got)
	}
	kept := testJob(options{}).archive()
	histories := map[probe.Key][]byte{}
	for _, j := range jobs("west", "south") {
		histories[j.Key()] = kept
	}
	r.Restore(File{}, histories)
	if len(histories) != 1 {
		t.Errorf("%d histories wait, want that of south", len(histories))
	}
	for _, j := range jobs("south") {
		r.Add(j)
	}
	if len(histories) > 0 {
		t.Errorf("with a job that came later, %d wait", len(histories))
	}
}

// TestAwaitedJobsAreKept checks that the tracker saves the restored state of jobs that may
// still be added.
func TestAwaitedJobsAreKept(t *testing.T) {
	r := NewTracker(TrackerOptions{Awaited: func(target string) bool { return target == "m/late" }})
	r.Restore(File{Jobs: []JobState{{Target: "m/late", Workload: "w"}, {Target: "gone", Workload: "w"}}},
		map[probe.Key][]byte{{Target: "m/late", Workload: "w"}: {1}, {Target: "gone", Workload: "w"}: {1}})
	if jobs := r.States().Jobs; len(jobs) != 1 || jobs[0].Target != "m/late" {
		t.Errorf("kept %v", jobs)
	}
	if got := targetsOf(slices.Collect(maps.Keys(maps.Collect(r.Histories())))); !slices.Equal(got, []string{"m/late"}) {
		t.Errorf("kept the histories of %v", got)
	}
}

// TestAcceptNamesJobs checks which jobs Accept returns for a target and workload.
func TestAcceptNamesJobs(t *testing.T) {
	r := newTracker(&clock{start}, "east", "west")
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
}

// saved returns a state file that was saved at start during a regression.
func saved(t *testing.T, targets ...string) (f File) {
	t.Helper()
	for _, target := range targets {
		var j JobState
		text := fmt.Sprintf(`{"target": %q, "workload": "chat", "series": [{"page": {"up": true, "seen": %d, "limit": 0.7}, "told": {"level": 0.3}}]}`, target, start.Unix()/60)
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			t.Fatal(err)
		}
		j.Saved = start
		f.Jobs = append(f.Jobs, j)
	}
	return f
}

// TestRestoreBaselines checks that the age of a restored page is judged by the tracker's clock
// when the job takes its state.
func TestRestoreBaselines(t *testing.T) {
	for name, tt := range map[string]struct {
		after, later time.Duration // times of the restart, and of the reload that adds the second job
		want         [2]bool       // whether each job pages
	}{
		"at once":                     {time.Minute, 0, [2]bool{true, true}},
		"after two days":              {48 * time.Hour, 0, [2]bool{false, false}},
		"a reload two days later":     {time.Minute, 48 * time.Hour, [2]bool{true, false}},
		"with a clock that went back": {-48 * time.Hour, time.Hour, [2]bool{true, true}},
		"two days, then a reload":     {48 * time.Hour, time.Minute, [2]bool{false, false}},
		"both just within the hour":   {time.Minute, 59 * time.Minute, [2]bool{true, true}},
	} {
		c := &clock{now: start.Add(tt.after)}
		r := newTracker(c, "north")
		r.Restore(saved(t, "north", "south"), nil)
		c.now = c.now.Add(tt.later)
		for _, j := range jobs("north", "south") {
			r.Add(j)
		}
		jobs := r.States().Jobs
		if len(jobs) != 2 {
			t.Fatalf("%s: %d jobs, want 2", name, len(jobs))
		}
		for i, j := range jobs {
			if !j.Saved.Equal(c.now) {
				t.Errorf("%s: %s is saved at %v, want %v", name, j.Target, j.Saved, c.now)
			}
			if got := j.Series[0].Page.Up; got != tt.want[i] || (j.Series[0].Told.Level > 0) != tt.want[i] {
				t.Errorf("%s: %s pages: %v, and knows %v", name, j.Target, got, j.Series[0].Told)
			}
		}
	}
}
