package backtest

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/samples"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// Simulation is simulated deployments under one real Recorder: what a sidecar
// would export of them, scraped.
type Simulation struct {
	options  SimulationOptions
	recorder *metrics.Recorder
	traffic  []*traffic
	scraped  time.Duration
	now      time.Time
	restarts restarts
	// sinks are the series of each sample of a metric, by its name and labels.
	sinks map[string][]*Series
	key   []byte
}

// Deployment is one that is simulated, and probed as a target.
type Deployment struct {
	Target     string
	Model      Model
	Seed       uint64
	Injections []Injection
}

// SimulationOptions define a run. Equal options give equal series.
type SimulationOptions struct {
	Deployments []Deployment
	SLOs        []slo.Objective
	Start       time.Time
	// Length is the whole run, what comes before the replay included.
	Length time.Duration
	// ScrapeInterval is 15 s by default.
	ScrapeInterval time.Duration
	// Restart is what the prober keeps when it is restarted, which it is once a day
	// unless this is "".
	Restart Restart
}

// NewSimulation returns a simulation at its start.
func NewSimulation(o SimulationOptions) *Simulation {
	o.ScrapeInterval = cmp.Or(o.ScrapeInterval, 15*time.Second)
	s := &Simulation{options: o, now: o.Start, sinks: map[string][]*Series{}, restarts: newRestarts(o)}
	s.recorder = s.newRecorder()
	for _, d := range o.Deployments {
		s.traffic = append(s.traffic, &traffic{
			target: d.Target, model: d.Model, rng: rand.New(rand.NewPCG(d.Seed, 1)), course: newCourse(d.Model, d.Seed, o.Length),
			injections: d.Injections, forecasts: map[int]*Forecast{}, start: o.Start, sink: s.recorder, setNow: func(at time.Time) { s.now = at },
		})
	}
	return s
}

// newRecorder is that of a process that has just begun.
func (s *Simulation) newRecorder() *metrics.Recorder {
	r := metrics.NewRecorder(metrics.Options{
		Now: func() time.Time { return s.now }, Build: metrics.Build{Version: "backtest"},
		Heartbeat: func(probe.Key) time.Time { return s.now },
	})
	for _, d := range s.options.Deployments {
		r.Add(jobOf(d, s.options.SLOs))
	}
	r.SetReload(true, s.now)
	return r
}

// jobOf is the job of a deployment.
func jobOf(d Deployment, slos []slo.Objective) sink.Job {
	return sink.Job{
		Job: probe.Job{
			Target:   target.Target{Name: d.Target, Model: "simulated", Connection: target.Reuse},
			Workload: workload.Spec{Name: Workload, Timeouts: workload.Timeouts{FirstToken: d.Model.FirstToken, Stall: 10 * time.Second, Total: TurnTimeout}},
			Traffic:  workload.Traffic{Arrival: workload.Arrival{Rate: d.Model.ConversationsPerMinute / 60}},
		},
		Objectives: slos,
	}
}

// play plays every deployment up to a time after the start, restarts included.
// One after the other is as good as at the same time: they share no state.
func (s *Simulation) play(to time.Duration) error {
	for s.restarts.due(to) {
		at := s.restarts.next()
		for _, t := range s.traffic {
			t.advance(at)
		}
		s.now = s.options.Start.Add(at)
		if err := s.restart(at); err != nil {
			return err
		}
	}
	for _, t := range s.traffic {
		t.advance(to)
	}
	s.now = s.options.Start.Add(to)
	return nil
}

// WarmUp plays without scraping: a time in which baselines are learned.
func (s *Simulation) WarmUp(d time.Duration) error {
	s.scraped = d
	return s.play(d)
}

// Advance implements Source.
func (s *Simulation) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	only := func(family string) bool { return wantedFamily(family, wanted) }
	read := s.recorder.Only(only) // it looks through the catalog once
	for !s.options.Start.Add(s.scraped + s.options.ScrapeInterval).After(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.foresee(); err != nil {
			return err
		}
		s.scraped += s.options.ScrapeInterval
		before := s.recorder
		if err := s.play(s.scraped); err != nil {
			return err
		}
		if s.recorder != before { // restarted
			read = s.recorder.Only(only)
		}
		if err := s.scrape(read, store, wanted); err != nil {
			return err
		}
	}
	return nil
}

func (s *Simulation) scrape(read prometheus.Gatherer, store *Store, wanted map[string]bool) error {
	families, err := read.Gather()
	if err != nil {
		return err
	}
	at := timestamp.FromTime(s.now)
	base := labels.FromStrings("instance", "prober", "job", "synthetic")
	wants := func(series string) bool { return wanted[series] }
	for _, f := range families {
		for _, m := range f.Metric {
			key := s.keyOf(f, m)
			series, known := s.sinks[string(key)]
			n := 0
			samples.Each(f.GetName(), m, false, wants, func(one samples.Sample) {
				if !known {
					series = append(series, store.Series(one.Labels(m, base)))
				}
				series[n].Append(at, one.Value)
				n++
			})
			if !known {
				s.sinks[string(key)] = series
			}
		}
	}
	return nil
}

// keyOf tells the metrics of all families apart. It is good until the next one.
func (s *Simulation) keyOf(f *dto.MetricFamily, m *dto.Metric) []byte {
	s.key = append(s.key[:0], f.GetName()...)
	for _, l := range m.Label { // whose names are those of the family
		s.key = append(append(s.key, 0xff), l.GetValue()...)
	}
	return s.key
}

// wantedFamily reports whether any series of a family is wanted.
func wantedFamily(name string, wanted map[string]bool) bool {
	return wanted[name] || wanted[name+"_bucket"] || wanted[name+"_sum"] || wanted[name+"_count"]
}
