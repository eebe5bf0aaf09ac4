package siblings

import (
	"fmt"
	"math"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/sink"
)

// clock is one that a test moves.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newTracker() (*Tracker, *clock) {
	c := &clock{time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)}
	return New(c.Now), c
}

func jobOf(name, service string, door *target.Worker) sink.Job {
	return sink.Job{Siblings: promised(), Policy: sink.DefaultPolicy(), Job: probe.Job{Target: target.Target{Name: name, Service: service, Worker: door}, Workload: workload.Spec{Name: "chat"}}}
}

func turn(target, worker string, ttft time.Duration) probe.Result {
	return probe.Result{Target: target, Workload: "chat", Worker: worker, Kind: probe.First, Outcome: probe.Success, TTFT: probe.Some(ttft)}
}

func (t *Tracker) scores() map[string]float64 {
	out := map[string]float64{}
	for _, v := range t.Views() {
		out[v.Target+v.Worker] = v.Score
	}
	return out
}

// TestGroups: siblings share service, workload and door; others, and what is alone,
// are compared with nothing.
func TestGroups(t *testing.T) {
	s, c := newTracker()
	for _, n := range []string{"a", "b", "c", "d"} {
		s.Add(jobOf(n, "x", nil))
	}
	s.Add(jobOf("lone", "y", nil))
	s.Add(jobOf("none", "", nil))
	s.Add(jobOf("door", "x", &target.Worker{}))
	for range 40 {
		c.now = c.now.Add(3 * time.Second)
		for _, n := range []string{"a", "b", "c"} {
			s.Observe(turn(n, "ignored", time.Second))
		}
		s.Observe(turn("d", "", 5*time.Second))
		for _, n := range []string{"lone", "none", "unknown", "door"} {
			s.Observe(turn(n, "", 9*time.Second))
		}
	}
	got := s.scores()
	if len(got) != 5 || got["d"] < 1 || got["a"] >= 1 || got["lone"] != 0 {
		t.Errorf("scores are %v", got)
	}
	for _, v := range s.Views() {
		if v.Target == "d" && math.Abs(v.Ratios[0][0]-5) > 0.01 {
			t.Errorf("the ratio of d is %v", v.Ratios[0][0])
		}
	}
	s.Add(jobOf("d", "z", nil)) // another service
	if got := s.scores(); got["d"] != 0 {
		t.Errorf("of another service it scores %v", got["d"])
	}
	for _, n := range []string{"a", "b", "c", "d", "lone", "none", "door"} {
		s.Remove(probe.Key{Target: n, Workload: "chat"})
	}
	if len(s.jobs)+len(s.groups) != 0 {
		t.Errorf("%v and %v are left", s.jobs, s.groups)
	}
}

// TestWorkersAreBounded: names come from others.
func TestWorkersAreBounded(t *testing.T) {
	s, c := newTracker()
	s.Add(jobOf("door", "x", &target.Worker{}))
	for i := range 1000 {
		s.Observe(turn("door", fmt.Sprint(i), time.Second))
	}
	for _, name := range []string{"", "\xff", string(make([]byte, maxName+1))} {
		s.Observe(turn("door", name, time.Second))
	}
	if n := len(s.Views()); n != maxWorkers {
		t.Errorf("%d workers", n)
	}
	c.now = c.now.Add(20 * time.Minute)
	if n := len(s.Views()); n != 0 {
		t.Errorf("%d workers 20 minutes later", n)
	}
}

// TestMostAreNotOne: what most share is not one's own, however much they differ from
// the rest.
func TestMostAreNotOne(t *testing.T) {
	s := world{replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300}.begin(1)
	for i := range 12 {
		s.slower[i] = math.Log(3)
	}
	if n := s.pages(0.1); n != 0 {
		t.Errorf("%d page", n)
	}
}

// TestOlderReplica: a lasting difference is learned, and masks nothing.
func TestOlderReplica(t *testing.T) {
	s := world{replicas: 4, rate: 0.1, spread: 0.4, wander: 0.05, wanders: 300}.begin(1)
	s.slower[2] = math.Log(1.4)
	if n := s.pages(1); n != 0 {
		t.Errorf("%d pages of one that is always 1.4 times as slow", n)
	}
	s.slower[2] += math.Log(3)
	if seconds, right := s.named(2, 30); !right {
		t.Errorf("three times as much as ever is not named in %d s", seconds)
	}
}

// TestFailing: the one that fails is named, and is well again soon after it is; one
// that all share the failures with is not.
func TestFailing(t *testing.T) {
	s := world{replicas: 8, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300}.begin(1)
	s.pages(0.02)
	for i := range s.failing {
		s.failing[i] = 0.3
	}
	if n := s.pages(0.02); n != 0 {
		t.Errorf("%d pages where all fail alike", n)
	}
	clear(s.failing)
	s.pages(0.02)
	s.failing[3] = 0.9
	seconds, right := s.named(3, 60)
	if !right || seconds < 100 {
		t.Errorf("named the failing one: %v, after %d s", right, seconds)
	}
	clear(s.failing)
	s.pages(0.005)
	if m := s.of[3]; m.up {
		t.Errorf("seven minutes after it failed it scores %v", m.score)
	}
}

// TestRolesAreApart: what answers in another role is no sibling.
func TestRolesAreApart(t *testing.T) {
	s, c := newTracker()
	for n, role := range map[string]string{"a": "replica", "b": "replica", "c": "replica", "gateway": "front"} {
		j := jobOf(n, "x", nil)
		j.Target.Labels = map[string]string{"role": role}
		s.Add(j)
	}
	for range 40 {
		c.now = c.now.Add(3 * time.Second)
		for _, n := range []string{"a", "b", "c"} {
			s.Observe(turn(n, "", time.Second))
		}
		s.Observe(turn("gateway", "", 5*time.Second))
	}
	if got := s.scores(); got["gateway"] != 0 {
		t.Errorf("the gateway is compared with replicas: %v", got)
	}
}

// TestWhatIsARestart: who did not answer twice in a row is given its time to warm up,
// however lately the prober began. Who answers late, or refuses for load, was there all
// the time, and is given none.
func TestWhatIsARestart(t *testing.T) {
	bad := func(o probe.Outcome) probe.Result {
		r := turn("d", "", 0)
		r.Outcome, r.TTFT = o, probe.Opt[time.Duration]{}
		return r
	}
	gone, busy, hung := bad(probe.ConnectError), bad(probe.HTTP429), bad(probe.TimeoutFirstToken)
	for name, how := range map[string]struct {
		healthy int
		bad     []probe.Result
		judged  bool
	}{
		"hung":                      {900, []probe.Result{hung, hung}, true},
		"busy":                      {900, []probe.Result{busy, busy}, true},
		"refuses in between":        {900, []probe.Result{gone, busy, gone}, true},
		"restart, and refuses":      {900, []probe.Result{gone, gone, busy}, false},
		"restart":                   {900, []probe.Result{gone, gone}, false},
		"restart in the first hour": {120, []probe.Result{gone, gone}, false},
	} {
		s, c := newTracker()
		for _, n := range []string{"a", "b", "c", "d"} {
			j := jobOf(n, "x", nil)
			j.Workload.Timeouts.FirstToken = 10 * time.Second
			s.Add(j)
		}
		round := func(d probe.Result) {
			c.now = c.now.Add(5 * time.Second)
			for _, n := range []string{"a", "b", "c"} {
				s.Observe(turn(n, "", time.Second))
			}
			s.Observe(d)
		}
		for range how.healthy {
			round(turn("d", "", time.Second))
		}
		for range 8 {
			for _, r := range how.bad {
				round(r)
			}
			round(turn("d", "", 9*time.Second))
		}
		if got := s.scores(); got["d"] >= 1 != how.judged || got["a"] >= 1 {
			t.Errorf("%s: two minutes later the scores are %v", name, got)
		}
	}
}

// TestSiblingsFailures: the share of the siblings is of what was counted of them, though
// the replica itself has many turns between two looks.
func TestSiblingsFailures(t *testing.T) {
	s := world{replicas: 3}.begin(1)
	take := func(i int, o probe.Outcome) {
		s.g.take(s.of[i], &probe.Result{Outcome: o}, [signals]probe.Opt[float64]{}, s.at)
	}
	for range 4 {
		for i := range s.of {
			take(i, probe.Success)
			take(i, probe.HTTP5xx)
		}
	}
	s.step()
	for range 12 {
		take(0, probe.Success)
	}
	if share, ok := s.g.failingElsewhere(s.of[0]); !ok || share < 0.45 || share > 0.6 {
		t.Errorf("of the siblings' turns %v failed, want half (%v)", share, ok)
	}
}

// TestRestarts: of three restarts within an hour the third is a page, though each alone
// is as cold as the others.
func TestRestarts(t *testing.T) {
	s := world{replicas: 8, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300}.begin(1)
	s.pages(0.05)
	for at, want := range []int{0, 0, 1} {
		s.down[2] = s.at
		if n := s.pages(0.012); n != want {
			t.Errorf("restart %d is %d pages, want %d", at+1, n, want)
		}
	}
}
