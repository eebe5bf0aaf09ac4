package metrics

import (
	"fmt"
	"time"

	"synthetic/internal/bound"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/sidecar/discovery"
	"synthetic/internal/sidecar/watch"

	"synthetic/internal/fleet"
	"synthetic/internal/slo"
)

// start is the time of the scripted results.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is set by hand.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// objectives returns every kind of SLI and of restriction.
func objectives() []slo.Objective {
	day := 24 * time.Hour
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: 30 * day},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day, Turns: []probe.TurnKind{probe.Followup}},
		{Name: "up", SLI: slo.Availability, Objective: 0.999, Window: 7 * day},
	}
}

// testRecorder passes events to its baselines first, as a sidecar does.
type testRecorder struct {
	*Recorder
	baselines *watch.Tracker
}

// newPlainRecorder returns a recorder that reads the baselines of its own tracker.
func newPlainRecorder(o Options) *testRecorder {
	o.Baselines = watch.NewTracker(watch.TrackerOptions{Now: o.Now})
	return &testRecorder{NewRecorder(o), o.Baselines}
}

func (r *testRecorder) Add(j fleet.Job) {
	r.baselines.Add(j)
	r.Recorder.Add(j)
}

func (r *testRecorder) Observe(e probe.Event) {
	r.baselines.Observe(e)
	r.Recorder.Observe(e)
}

func (r *testRecorder) Remove(k probe.Key) {
	r.baselines.Remove(k)
	r.Recorder.Remove(k)
}

// newTestRecorder returns a recorder with all options and one job per target.
func newTestRecorder(c *clock, targets ...string) *testRecorder {
	r := newPlainRecorder(Options{
		Now:             c.Now,
		Build:           Build{Version: "1.2.3", Revision: "abc", Branch: "main", GoVersion: "go1.26", GOOS: "linux", GOARCH: "amd64", Tags: "netgo"},
		TimestampSource: func() string { return "kernel" },
		Heartbeat:       func(probe.Key) time.Time { return start },
		TurnLog:         func() uint64 { return 0 },
		Discovery: func() []discovery.Standing {
			return []discovery.Standing{{Name: "pods", Found: 3, LeftOut: map[string]int{discovery.BadHost: 1}, At: start, Failing: "no route"}}
		},
		Bounds: []bound.Bound{
			{Name: "memory_bytes", Level: func() (used, limit float64) { return 3, 10 }},
			{Name: "none", Level: func() (used, limit float64) { return 3, 0 }},
		},
	})
	apply(r, jobs(targets...))
	r.SetReload(true, start)
	return r
}

// apply replaces the jobs of a recorder, as a reload does.
func apply(r *testRecorder, jobs []fleet.Job) {
	kept := map[probe.Key]bool{}
	for _, j := range jobs {
		kept[j.Key()] = true
		r.Add(j)
	}
	for _, j := range r.baselines.States().Jobs {
		if key := (probe.Key{Target: j.Target, Workload: j.Workload}); !kept[key] {
			r.Remove(key)
		}
	}
}

// jobs returns one job per target, with everything configured.
func jobs(targets ...string) []fleet.Job {
	var out []fleet.Job
	for _, t := range targets {
		j := fleet.Job{Objectives: objectives(), ServerMetrics: true}
		j.Target = target.Target{Name: t, Model: "m-8b", Connection: target.Reuse, BaseURL: "http://name:secret@east.example:8000/v1?key=secret#secret"}
		j.Workload.Name, j.Workload.Recall, j.Traffic.Rate = "chat", 1, 0.25
		if t == "east" {
			j.Objectives = append(j.Objectives, slo.Objective{
				Name: "line", SLI: slo.TTFT, Threshold: 300 * time.Millisecond, PerThousand: 60 * time.Millisecond,
				Objective: 0.99, Window: 30 * 24 * time.Hour,
			})
		}
		out = append(out, j)
	}
	return out
}

// turn returns a successful turn with n gaps.
func turn(target string, kind probe.TurnKind, at time.Time, ttft, gap time.Duration, n int) probe.Result {
	r := probe.Result{
		Target: target, Workload: "chat", Kind: kind, Sent: at.Add(200 * time.Microsecond),
		Outcome: probe.Success,
		TTFT:    probe.Some(ttft), TPOT: probe.Some(gap),
		Asked:  probe.Asked{Model: "m-8b", Conversation: "c1", Turn: 1, TraceID: fmt.Sprintf("%032x", at.UnixNano()), Scheduled: at},
		Server: probe.Server{Status: 200},
		Timing: probe.Timing{AnswerTTFT: probe.Some(ttft), Events: n + 1, ReadLagMax: 30 * time.Microsecond, Kernel: true, Phases: probe.Phases{
			Headers: probe.Some(ttft / 2), FirstEvent: probe.Some(ttft / 2), Reused: true,
		}},
		Tokens: probe.Tokens{PromptTokens: probe.Some(4000), CachedTokens: probe.Some(3000), OutputTokens: probe.Some(n + 1)},
	}
	for range n {
		r.Gaps = append(r.Gaps, gap)
	}
	r.End = r.Sent.Add(ttft + time.Duration(n)*gap)
	return r
}

// run reports a turn from its start to its end.
func run(r *testRecorder, t probe.Result) {
	r.Observe(probe.Start{Target: t.Target, Workload: t.Workload, Kind: t.Kind})
	r.Observe(t)
}
