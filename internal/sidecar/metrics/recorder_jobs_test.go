package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
)

// TestNewJobStartsAtZero checks that series exist before the first failure, so that increase()
// sees it.
func TestNewJobStartsAtZero(t *testing.T) {
	g := gather(t, newTestRecorder(&clock{start}, "a"))
	for _, kind := range []string{"first", "followup"} {
		for _, reason := range probe.Failures() {
			if got := g.value(t, seriesOfTurn(TurnFailures, kind, []string{"reason=" + string(reason)})); got != 0 {
				t.Errorf("%s %s = %v", kind, reason, got)
			}
		}
		for _, name := range []string{"ttft", "up"} {
			g.value(t, seriesOfTurn(SLOViolations, kind, []string{"slo=" + name}))
		}
	}
	for _, name := range g.of("target=a") {
		known := []string{
			targetInfo, TrafficRate, probeRate, SchedulerHeartbeat, Silence, OutageTurns, Baseline,
			Excess, CachedBaseline, RegressionRatio, RegressionLimit, Detectable,
		}
		if got := g.value(t, name); got != 0 && !slices.Contains(known, name[:strings.Index(name, "{")]) {
			t.Errorf("%s = %v at the start", name, got)
		}
	}
}

func TestAddKeepsKnownJobs(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a", "b")
	run(r, turn("a", probe.First, start, 2*time.Second, 20*millisecond, 5))
	next := jobs("a", "c")
	next[0].Traffic.Rate = 3
	apply(r, next)
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

// TestRemove checks that a removed job leaves no series, and its target none after its last
// job.
func TestRemove(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a", "b")
	r.ServerRead("a", serverside.Reading{Complete: true})
	second := jobs("a")[0]
	second.Workload.Name = "code"
	r.Add(second)
	ended := turn("a", probe.First, start, millisecond, millisecond, 1)
	r.Observe(probe.Start{Target: "a", Workload: "chat", Kind: probe.First})
	r.Remove(probe.Key{Target: "a", Workload: "chat"})
	r.Remove(probe.Key{Target: "stranger", Workload: "chat"})
	r.Observe(ended)
	r.Observe(probe.Skip{Target: "a", Workload: "chat", Reason: probe.SkipReasons()[0]})
	g := gather(t, r)
	for _, series := range g.of("target=a") {
		if strings.Contains(series, "workload=chat") {
			t.Errorf("a removed job left %s", series)
		}
	}
	if got := g.value(t, ServerMetricsUp+"{target=a}"); got != 1 {
		t.Errorf("the target's metrics are %v while it has another job, want 1", got)
	}
	r.Remove(second.Key())
	if got := gather(t, r).of("target=a"); len(got) != 0 {
		t.Errorf("a target without jobs left %v", got)
	}
	// A late end of a turn of the removed job must not make the turns in flight negative.
	apply(r, jobs("a", "b"))
	r.Observe(ended)
	r.Observe(probe.Conversation{Target: "a", Workload: "chat"})
	g = gather(t, r)
	for _, series := range []string{first("synthetic_turns_in_flight"), first(Turns), ofJob("synthetic_conversations_in_flight"), ofJob("synthetic_conversations_total")} {
		if got := g.value(t, series); got != 0 {
			t.Errorf("%s = %v, want 0", series, got)
		}
	}
}

func TestOtherObjectives(t *testing.T) {
	r := newTestRecorder(&clock{start}, "a")
	slow := turn("a", probe.First, start, 2*time.Second, millisecond, 1)
	run(r, slow)
	s := jobs("a")
	s[0].Objectives = []slo.Objective{
		s[0].Objectives[0], {Name: "fresh", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.9, Window: time.Hour},
		{Name: "line", SLI: slo.TTFT, Threshold: time.Second, PerThousand: time.Second, Objective: 0.9, Window: time.Hour},
		{Name: "small", SLI: slo.TTFT, Threshold: time.Second, Uncached: slo.Tokens{Below: 2000}, Objective: 0.9, Window: time.Hour},
	}
	s[0].Objectives[0].Threshold = 3 * time.Second
	apply(r, s)
	run(r, slow) // 1,000 of its prompt tokens are not cached
	slow.CachedTokens.OK, slow.CachedTokens.V = false, 0
	run(r, slow)
	g := gather(t, r)
	for series, want := range map[string]float64{
		first(SLOTurns, "slo=ttft"): 3, first(SLOViolations, "slo=ttft"): 1, // the later turns are good by the new threshold
		first(SLOTurns, "slo=fresh"): 2, first(SLOViolations, "slo=fresh"): 2,
		first(SLOTurns, "slo=line"): 2, first(SLOViolations, "slo=line"): 0,
		first(SLOTurns, "slo=small"): 1, first(SLOViolations, "slo=small"): 1,
		SLOThreshold + "{slo=ttft}": 3, SLOThreshold + "{slo=line}": 1, SLOSlope + "{slo=line}": 1,
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
	info := func(model string) string {
		return targetInfo + "{connection=reuse,model=" + model + ",target=a,url=http://east.example:8000/v1}"
	}
	r := newTestRecorder(&clock{start}, "a")
	s := jobs("a")
	s[0].Target.Model = ""
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "m-8b"},
		{func() { apply(r, s) }, "m-8b"},
		{func() { r.setModel("a", "found") }, "found"},
		{func() { r.setModel("stranger", "other") }, "found"},
		{func() { apply(r, s) }, "found"},
		{func() { apply(r, jobs("a")) }, "m-8b"},
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
