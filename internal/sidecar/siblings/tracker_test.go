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

// clock is a clock that the test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newTracker() (*Tracker, *clock) {
	c := &clock{time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)}
	return New(c.Now), c
}

func jobOf(name, service string, door *target.Worker) sink.Job {
	return sink.Job{Policy: sink.DefaultPolicy(), Job: probe.Job{Target: target.Target{Name: name, Service: service, Worker: door}, Workload: workload.Spec{Name: "chat"}}}
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

// TestGroups checks that only targets with the same service, workload and front door are compared.
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
		if v.Target == "d" && math.Abs(v.Ratios[0][0].V-5) > 0.01 {
			t.Errorf("the ratio of d is %v", v.Ratios[0][0])
		}
	}
	s.Add(jobOf("d", "z", nil)) // moves it to another service
	if got := s.scores(); got["d"] != 0 {
		t.Errorf("in another service its score is %v", got["d"])
	}
	for _, n := range []string{"a", "b", "c", "d", "lone", "none", "door"} {
		s.Remove(probe.Key{Target: n, Workload: "chat"})
	}
	if len(s.jobs)+len(s.groups) != 0 {
		t.Errorf("jobs %v and groups %v remain", s.jobs, s.groups)
	}
}

// TestWorkersAreBounded checks the limits of worker names, because servers choose them.
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

// TestMostReplicasAreSlow checks that no replica pages if most of them are slow.
func TestMostReplicasAreSlow(t *testing.T) {
	s := world{replicas: 16, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300}.begin(1)
	for i := range 12 {
		s.slower[i] = math.Log(3)
	}
	if n := s.pages(0.1); n != 0 {
		t.Errorf("%d pages", n)
	}
}

// TestOlderReplica checks that a lasting difference is learned, and that a later fault of the same
// replica is still found.
func TestOlderReplica(t *testing.T) {
	s := world{replicas: 4, rate: 0.1, spread: 0.4, wander: 0.05, wanders: 300}.begin(1)
	s.slower[2] = math.Log(1.4)
	if n := s.pages(1); n != 0 {
		t.Errorf("%d pages for a replica that is always 1.4 times as slow", n)
	}
	s.slower[2] += math.Log(3)
	if seconds, right := s.named(2, 30); !right {
		t.Errorf("a replica three times as slow as usual did not page in %d s", seconds)
	}
}

// TestFailing checks that a failing replica pages and recovers soon after its failure, and that
// failures of all replicas do not page.
func TestFailing(t *testing.T) {
	s := world{replicas: 8, rate: 0.2, spread: 0.4, wander: 0.1, wanders: 300}.begin(1)
	s.pages(0.02)
	for i := range s.failing {
		s.failing[i] = 0.3
	}
	if n := s.pages(0.02); n != 0 {
		t.Errorf("%d pages while all fail equally", n)
	}
	clear(s.failing)
	s.pages(0.02)
	s.failing[3] = 0.9
	seconds, right := s.named(3, 60)
	if !right || seconds < 100 {
		t.Errorf("the failing replica paged first: %v, after %d s", right, seconds)
	}
	clear(s.failing)
	s.pages(0.005)
	if m := s.all[3]; m.paging {
		t.Errorf("seven minutes after its failure the score is %v", m.score)
	}
}

// TestRolesAreApart checks that targets with different roles are not compared.
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
		t.Errorf("the gateway was compared with replicas: %v", got)
	}
}

// TestRestartDetection checks that a replica gets time to warm up after two consecutive unanswered
// turns. A replica that answers late, or refuses because of its load, did not restart.
func TestRestartDetection(t *testing.T) {
	bad := func(o probe.Outcome) probe.Result {
		r := turn("d", "", 0)
		r.Outcome, r.TTFT = o, probe.Opt[time.Duration]{}
		return r
	}
	gone, busy, hung := bad(probe.ConnectError), bad(probe.HTTP429), bad(probe.TimeoutFirstToken)
	for name, test := range map[string]struct {
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
		for range test.healthy {
			round(turn("d", "", time.Second))
		}
		for range 8 {
			for _, r := range test.bad {
				round(r)
			}
			round(turn("d", "", 9*time.Second))
		}
		if got := s.scores(); got["d"] >= 1 != test.judged || got["a"] >= 1 {
			t.Errorf("%s: two minutes later the scores are %v", name, got)
		}
	}
}

// TestSiblingsFailed checks the share of failed turns of the siblings if the replica itself had
// many turns since the last comparison.
func TestSiblingsFailed(t *testing.T) {
	s := world{replicas: 3}.begin(1)
	take := func(i int, o probe.Outcome) {
		s.g.addTurn(s.all[i], &probe.Result{Outcome: o}, [signals]probe.Opt[float64]{}, s.at)
	}
	for range 4 {
		for i := range s.all {
			take(i, probe.Success)
			take(i, probe.HTTP5xx)
		}
	}
	s.step()
	for range 12 {
		take(0, probe.Success)
	}
	if share := s.g.siblingsFailed(s.all[0]); !share.OK || share.V < 0.45 || share.V > 0.6 {
		t.Errorf("the share of the siblings' failed turns is %v, want 0.5", share)
	}
}

// TestRestarts checks that the third restart within an hour pages, although the replica is as cold
// as after the others.
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
