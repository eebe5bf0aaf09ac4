package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// TestNewJobStartsAtZero: increase() sees the first failure only if the series
// was there before.
func TestNewJobStartsAtZero(t *testing.T) {
	g := gather(t, newTestRecorder(&clock{start}, "a"))
	for _, kind := range []string{"first", "followup"} {
		for _, reason := range probe.Failures() {
			if got := g.value(t, turnSeries(TurnFailures, kind, []string{"reason=" + string(reason)})); got != 0 {
				t.Errorf("%s %s = %v", kind, reason, got)
			}
		}
		for _, name := range []string{"ttft", "up"} {
			g.value(t, turnSeries(SLOViolations, kind, []string{"slo=" + name}))
		}
	}
	for _, name := range g.of("target=a") {
		known := []string{
			TargetInfo, TrafficRate, SchedulerHeartbeat, TailLimit, Baseline, BaselineYoung,
			BaselineNoise, CusumLimit, CusumAllowance, Excess, CachedBaseline,
		}
		if got := g.value(t, name); got != 0 && !slices.Contains(known, name[:strings.Index(name, "{")]) {
			t.Errorf("%s = %v at the start", name, got)
		}
	}
}

func TestApplyKeepsKnownJobs(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a", "b")
	run(r, turn("a", probe.First, start, 2*time.Second, 20*millisecond, 5))
	next := snapshot("a", "c")
	next.Jobs[0].Rate = 3
	r.Apply(next)
	g := gather(t, r)
	if got := g.value(t, first(Turns)); got != 1 {
		t.Errorf("turns of a kept job = %v, want 1", got)
	}
	if got := g.value(t, TrafficRate+"{target=a,workload=chat}"); got != 3 {
		t.Errorf("rate %v, want 3", got)
	}
	if got := g.of("target=b"); len(got) != 0 {
		t.Errorf("a removed, idle job left %v", got)
	}
	if got := g.of("target=c"); len(got) == 0 {
		t.Error("a new job has no series")
	}
}

// TestRemovedJobDrains: what a removed job still had in flight is accounted for
// before its series go.
func TestRemovedJobDrains(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a", "b")
	conversation := probe.ConversationStart{Target: "a", Workload: "chat"}
	res := turn("a", probe.First, start, millisecond, millisecond, 1)
	res.Outcome = probe.Canceled
	r.Observe(conversation)
	r.Observe(probe.Start{Target: "a", Workload: "chat", Kind: probe.First})
	r.Apply(snapshot("b"))
	r.Observe(res)
	g := gather(t, r)
	if got := g.value(t, first(TurnsCanceled)); got != 1 {
		t.Errorf("canceled turns %v, want 1", got)
	}
	if _, ok := g[ofJob(TrafficRate)]; ok {
		t.Error("a removed job still has a configured rate")
	}
	r.Observe(probe.Conversation{Target: "a", Workload: "chat", Outcome: probe.Canceled})
	if got := gather(t, r).of("target=a"); len(got) != 0 {
		t.Errorf("after its last conversation a removed job left %v", got)
	}
}

func TestRemovedJobComesBack(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	r.Observe(probe.ConversationStart{Target: "a", Workload: "chat"})
	r.Apply(snapshot())
	r.Apply(snapshot("a"))
	r.Observe(probe.Conversation{Target: "a", Workload: "chat", Outcome: probe.Canceled})
	if got := gather(t, r).value(t, ofJob(ConversationsCanceled)); got != 1 {
		t.Errorf("canceled conversations %v, want 1", got)
	}
}

func TestForget(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a", "b")
	ended := turn("a", probe.First, start, millisecond, millisecond, 1)
	r.Observe(probe.Start{Target: "a", Workload: "chat", Kind: probe.First})
	r.Apply(snapshot("b"))
	r.Forget(probe.Key{Target: "a", Workload: "chat"})
	r.Forget(probe.Key{Target: "stranger", Workload: "chat"})
	r.Observe(ended)
	r.Observe(probe.Skip{Target: "a", Workload: "chat", Reason: SkipReasons()[0]})
	if got := gather(t, r).of("target=a"); len(got) != 0 {
		t.Errorf("a forgotten job left %v", got)
	}
	// A late end of the forgotten job must not make turns in flight negative.
	r.Apply(snapshot("a", "b"))
	r.Observe(ended)
	r.Observe(probe.Conversation{Target: "a", Workload: "chat"})
	g := gather(t, r)
	for _, series := range []string{first(TurnsInFlight), first(Turns), ofJob(ConversationsInFlight), ofJob(Conversations)} {
		if got := g.value(t, series); got != 0 {
			t.Errorf("%s = %v, want 0", series, got)
		}
	}
}

// TestForgetLeavesWantedJobs: the old loop of a job that was taken out and put
// back reports its end after the new one began.
func TestForgetLeavesWantedJobs(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	r.Apply(snapshot())
	r.Apply(snapshot("a"))
	r.Forget(probe.Key{Target: "a", Workload: "chat"})
	run(r, turn("a", probe.First, start, millisecond, millisecond, 1))
	if got := gather(t, r).value(t, first(Turns)); got != 1 {
		t.Errorf("turns = %v, want 1", got)
	}
}

func TestSwapSLOs(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	slow := turn("a", probe.First, start, 2*time.Second, millisecond, 1)
	run(r, slow)
	s := snapshot("a")
	s.SLOs = []slo.Objective{s.SLOs[0], {Name: "fresh", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.9, Window: time.Hour}}
	s.SLOs[0].Threshold = 3 * time.Second
	r.Apply(s)
	run(r, slow)
	g := gather(t, r)
	for series, want := range map[string]float64{
		first(SLOTurns, "slo=ttft"): 2, first(SLOViolations, "slo=ttft"): 1, // the second is good by the new threshold
		first(SLOTurns, "slo=fresh"): 1, first(SLOViolations, "slo=fresh"): 1,
		SLOThreshold + "{slo=ttft}": 3,
	} {
		if got := g.value(t, series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
	if got := g.of("slo=up"); len(got) != 0 {
		t.Errorf("a removed objective left %v", got)
	}
}

func TestDiscoveredModel(t *testing.T) {
	info := func(model string) string { return TargetInfo + "{connection=reuse,model=" + model + ",target=a}" }
	r := newTestRecorder(&clock{start}, "a")
	s := snapshot("a")
	s.Targets[0].Model = ""
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "m-8b"},
		{func() { r.Apply(s) }, "m-8b"},
		{func() { r.SetModel("a", "found") }, "found"},
		{func() { r.SetModel("stranger", "other") }, "found"},
		{func() { r.Apply(s) }, "found"},
		{func() { r.Apply(snapshot("a")) }, "m-8b"},
	} {
		step.do()
		if got := gather(t, r).of("connection="); !slices.Equal(got, []string{info(step.want)}) {
			t.Errorf("target info %v, want model %q", got, step.want)
		}
	}
}

func TestReload(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	r.SetReload(false, start.Add(time.Hour))
	g := gather(t, r)
	if got := g.value(t, ConfigLastReloadSuccessful+"{}"); got != 0 {
		t.Errorf("successful = %v after a failed reload", got)
	}
	if got, want := g.value(t, ConfigLastReloadSuccess+"{}"), float64(start.Unix()); got != want {
		t.Errorf("last success at %v, want %v", got, want)
	}
}

func TestApplyKeepsTheCallersSnapshot(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	s := snapshot("a")
	r.Apply(s)
	r.SetModel("a", "found")
	s.SLOs[0].Name = "scribbled"
	if s.Targets[0].Model != "m-8b" || len(gather(t, r).of("slo=scribbled")) > 0 {
		t.Error("the recorder shares memory with its caller")
	}
}
