package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/tools/testkit/promtest"
)

// benchTargets is the number of targets of the benchmark. Its results are scaled to 1,000.
const benchTargets = 50

// BenchmarkThousandTargets evaluates all rules for many healthy targets with three SLOs, a scrape every
// 15 s and full windows. It reports the share of a core for 1,000 targets, by group. Groups without an
// interval are evaluated once a minute.
func BenchmarkThousandTargets(b *testing.B) {
	in := withSLOs(ttft, available, slo.Objective{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: 30 * day})()
	in.Jobs = nil
	for i := range benchTargets {
		in.Jobs = append(in.Jobs, rules.Job{Target: fmt.Sprint("t", i), Workload: "chat", ConversationsPerMinute: 1, TurnsPerMinute: 3, TurnTimeout: 2 * time.Minute})
	}
	generated, err := rules.Generate(in)
	if err != nil {
		b.Fatal(err)
	}
	file, err := generated.PrometheusYAML()
	if err != nil {
		b.Fatal(err)
	}
	p := newPrometheus(b, file, time.Unix(1_800_000_000, 0).UTC().Truncate(time.Hour))
	p.fill(b, in)
	for range 40 { // what is recorded, and as of what
		p.now = p.now.Add(15 * time.Second)
		p.evaluate()
	}
	for b.Loop() {
		total := 0.
		for _, g := range p.groups {
			began := cpu()
			p.now = p.now.Add(time.Second)
			g.Eval(b.Context(), p.now)
			share := (cpu() - began).Seconds() / g.Interval().Seconds() * 1000 / benchTargets
			total += share
			b.ReportMetric(100*share, strings.TrimPrefix(g.Name(), "synthetic-")+"-%")
		}
		b.ReportMetric(100*total, "all-%")
	}
}

// cpu returns the CPU time of this process, which other processes do not change.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fill stores the scrapes of the past, for each family no longer than rules read it.
func (p *prometheus) fill(b *testing.B, in rules.Input) {
	start := p.now
	r := metrics.NewRecorder(metrics.Options{Now: func() time.Time { return start }, Build: metrics.Build{Version: "x"}, Heartbeat: func(probe.Key) time.Time { return start }})
	for _, j := range in.Jobs {
		one := sink.Job{Objectives: in.SLOs}
		one.Target, one.Workload.Name = target.Target{Name: j.Target, BaseURL: "http://" + j.Target, Connection: target.Reuse}, j.Workload
		one.Traffic.Rate, one.Workload.Timeouts.Total = j.ConversationsPerMinute/60, j.TurnTimeout
		r.Add(one)
	}
	families, err := r.Only(func(f string) bool { return p.read[f] }).Gather()
	if err != nil {
		b.Fatal(err)
	}
	type stored struct {
		labels  labels.Labels
		ref     storage.SeriesRef
		every   time.Duration
		since   time.Duration
		counter bool
		time    bool
		value   float64
	}
	var all []stored
	base := labels.FromStrings("instance", "prober", "job", "synthetic")
	for _, f := range families {
		for _, m := range f.Metric {
			promtest.Each(f.GetName(), m, func(s string) bool { return p.read[s] }, func(s promtest.Value) {
				one := stored{labels: s.Labels(m, base), every: 15 * time.Second, since: 90 * time.Minute, value: s.Value}
				one.counter = slices.Contains([]string{metrics.Turns, metrics.SLOTurns, metrics.ConversationsStarted, metrics.OutputTokens, metrics.SignalTurns}, f.GetName())
				one.time = strings.HasSuffix(f.GetName(), "_timestamp_seconds")
				switch name := f.GetName(); {
				case name == metrics.SchedulerHeartbeat || name == metrics.Silence || name == metrics.SLOObjective || name == metrics.BaselineYoung:
					one.since = day
				}
				all = append(all, one)
			})
		}
	}
	for _, j := range in.Jobs {
		for _, o := range in.SLOs {
			for _, name := range []string{"synthetic_slo_turns", "synthetic_slo_violations"} {
				recorded := func(how string, every, since time.Duration) {
					all = append(all, stored{
						labels: labels.FromStrings("__name__", "target_workload_slo:"+name+":"+how, "target", j.Target, "workload", j.Workload, "slo", o.Name),
						every:  every, since: since, value: 0.05,
					})
				}
				recorded("rate5m", 2*time.Minute, 3*day)
				recorded("sum10m", 10*time.Minute, 30*day)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b stored) int { return int(b.since - a.since) })
	for at := p.now.Add(-30 * day); !at.After(p.now); at = at.Add(15 * time.Second) {
		a := p.store.Appender(b.Context())
		for i := range all {
			s := &all[i]
			if p.now.Sub(at) > s.since {
				break
			}
			if at.UnixNano()%s.every.Nanoseconds() != 0 {
				continue
			}
			v := s.value
			switch {
			case s.time:
				v = float64(at.Unix())
			case s.counter:
				v = float64(at.Unix()%1e7) / 20
			}
			if s.ref, err = a.Append(s.ref, s.labels, at.UnixMilli(), v); err != nil {
				b.Fatal(err)
			}
		}
		if err := a.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}
