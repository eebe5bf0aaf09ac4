//go:build unix

package alerting_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"synthetic/internal/alerting"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/watch"
	"synthetic/internal/slo"
)

// The fleet of the benchmark. Each target has the default traffic of twelve conversations of four
// turns a minute.
const (
	fleetTargets = 50
	interval     = 15 * time.Second
	history      = 24 * time.Hour
	perMinute    = 48 // turns
)

// jobs is a recorder of many jobs with its own clock.
type jobs struct {
	recorder *metrics.Recorder
	sinks    fleet.Fanout
	now      time.Time
	began    time.Time
	random   *rand.Rand
	names    []string
}

func fleetObjectives() []slo.Objective {
	month := 30 * 24 * time.Hour
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99, Window: month},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: month},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: month},
	}
}

func newJobs() *jobs {
	f := &jobs{now: time.Now().Add(-history), random: rand.New(rand.NewPCG(1, 2))}
	f.began = f.now
	now := func() time.Time { return f.now }
	baselines := watch.NewTracker(watch.TrackerOptions{Now: now})
	f.recorder = metrics.NewRecorder(metrics.Options{
		Now: now, Baselines: baselines, Build: metrics.Build{Version: "1"},
		TimestampSource: func() string { return "kernel" },
		Heartbeat:       func(probe.Key) time.Time { return f.now },
	})
	f.sinks = fleet.Fanout{baselines, f.recorder}
	for i := range fleetTargets {
		name := "target-" + strconv.Itoa(i)
		f.names = append(f.names, name)
		j := fleet.Job{Objectives: fleetObjectives()}
		j.Target = target.Target{Name: name, Model: "m", Connection: target.PerConversation}
		j.Workload.Name, j.Traffic.Rate = "chat", 0.2
		j.Workload.Timeouts = workload.Timeouts{FirstToken: 30 * time.Second, Stall: 10 * time.Second, Total: 2 * time.Minute}
		f.sinks.Add(j)
	}
	f.recorder.SetReload(true, f.now)
	return f
}

// rules returns the generated rules.
func (f *jobs) rules(b *testing.B) []byte {
	in := rules.Input{SLOs: fleetObjectives()}
	for _, name := range f.names {
		in.Jobs = append(in.Jobs, rules.Job{
			Target: name, Workload: "chat", ConversationsPerMinute: 12, TurnsPerMinute: perMinute, TurnTimeout: 2 * time.Minute,
		})
	}
	generated, err := rules.Generate(in)
	if err != nil {
		b.Fatal(err)
	}
	text, err := generated.PrometheusYAML()
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// pass records the turns of an interval, of which a few are bad.
func (f *jobs) pass() {
	f.now = f.now.Add(interval)
	for _, name := range f.names {
		for range perMinute / 4 {
			f.turn(name)
		}
	}
}

func (f *jobs) turn(target string) {
	kind := probe.Followup
	if f.random.IntN(4) == 0 {
		kind = probe.First
	}
	ttft := time.Duration(0.3 * math.Exp(0.3*f.random.NormFloat64()) * float64(time.Second))
	gap := time.Duration(0.02 * math.Exp(0.2*f.random.NormFloat64()) * float64(time.Second))
	sent := f.now.Add(-5 * time.Second)
	r := probe.Result{
		Target: target, Workload: "chat", Kind: kind, Sent: sent, End: sent.Add(ttft + 10*gap),
		Outcome: probe.Success,
		TTFT:    probe.Some(ttft), TPOT: probe.Some(gap),
		Asked:  probe.Asked{Model: "m", Conversation: "c", Turn: 1, TraceID: fmt.Sprintf("%032x", f.random.Uint64()), Scheduled: sent},
		Server: probe.Server{Status: 200},
		Timing: probe.Timing{AnswerTTFT: probe.Some(ttft), Gaps: []time.Duration{gap, gap, gap}, Events: 11, Kernel: true},
		Tokens: probe.Tokens{PromptTokens: probe.Some(4000), CachedTokens: probe.Some(3000), OutputTokens: probe.Some(11)},
	}
	if f.random.IntN(500) == 0 {
		r.Outcome, r.Status = probe.HTTP5xx, 500
		r.TTFT, r.AnswerTTFT, r.TPOT = probe.Opt[time.Duration]{}, probe.Opt[time.Duration]{}, probe.Opt[time.Duration]{}
	}
	f.sinks.Observe(probe.Start{Target: target, Workload: "chat", Kind: kind})
	f.sinks.Observe(r)
}

// BenchmarkDay50 measures one round of a pager of 50 targets that holds samples of a day: it reads
// the metrics, stores them, and evaluates every rule that is due. The preparation takes minutes.
// cpu-%-of-core is the CPU time with a round every 15 s.
func BenchmarkDay50(b *testing.B) {
	f := newJobs()
	began := time.Now()
	// The pager's clock also follows real time, so the time of the preparation is not part of the
	// day.
	wall := func() time.Time { return f.now.Add(time.Since(began)) }
	before := heap()
	p, err := alerting.New(alerting.Options{Gatherer: f.recorder, Rules: f.rules(b), Interval: interval, Instance: "bench", Now: wall})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	h := alerting.Hand{Pager: p}
	for range int(history / interval) {
		f.pass()
		h.Round(b.Context())
	}
	for _, err := range h.Failures() {
		b.Error(err)
	}
	var used time.Duration
	n := 0
	for b.Loop() {
		b.StopTimer()
		f.pass()
		b.StartTimer()
		start := cpuTime(b)
		h.Round(b.Context())
		used += cpuTime(b) - start
		n++
	}
	share := used.Seconds() / float64(n) / interval.Seconds() * 100
	held := float64(heap()-before) / 1e6
	b.ReportMetric(share, "cpu-%-of-core")
	b.ReportMetric(held, "MB-heap")
	if share > 5 || held > 64 {
		b.Errorf("%.1f %% of a core and %.0f MB, want at most 5 %% and 64 MB", share, held)
	}
	runtime.KeepAlive(f)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
