package backtest

import (
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

// Simulation is a simulated deployment under the real Recorder: what a sidecar
// would export of it, scraped.
type Simulation struct {
	traffic  *traffic
	recorder *metrics.Recorder
	start    time.Time
	scraped  time.Duration
	every    time.Duration
	now      time.Time
	// sinks are the series of each sample of a metric, by its name and labels.
	sinks map[string][]*Series
	key   []byte
}

// SimulationOptions define a run. Equal options give equal series.
type SimulationOptions struct {
	Model      Model
	Seed       uint64
	SLOs       []slo.Objective
	Injections []Injection
	Start      time.Time
	// Length is the whole run, what comes before the replay included.
	Length time.Duration
	// ScrapeInterval is 15 s by default.
	ScrapeInterval time.Duration
}

// NewSimulation returns a simulation at its start.
func NewSimulation(o SimulationOptions) *Simulation {
	if o.ScrapeInterval == 0 {
		o.ScrapeInterval = 15 * time.Second
	}
	s := &Simulation{start: o.Start, now: o.Start, every: o.ScrapeInterval, sinks: map[string][]*Series{}}
	s.recorder = metrics.NewRecorder(metrics.Options{
		Now: func() time.Time { return s.now }, Build: metrics.Build{Version: "backtest"},
		Heartbeat: func(probe.Key) time.Time { return s.now },
	})
	s.recorder.Add(jobOf(o))
	s.recorder.SetReload(true, o.Start)
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	s.traffic = &traffic{
		model: o.Model, rng: rng, level: newLevel(o.Model, rng, o.Length), injections: o.Injections,
		start: o.Start, sink: s.recorder, setNow: func(at time.Time) { s.now = at },
	}
	return s
}

// jobOf is the one job of a simulation.
func jobOf(o SimulationOptions) sink.Job {
	return sink.Job{
		Job: probe.Job{
			Target:   target.Target{Name: Target, Model: "simulated", Connection: target.Reuse},
			Workload: workload.Spec{Name: Workload, Timeouts: workload.Timeouts{FirstToken: o.Model.FirstToken, Stall: 10 * time.Second, Total: TurnTimeout}},
			Traffic:  workload.Traffic{Arrival: workload.Arrival{Rate: o.Model.ConversationsPerMinute / 60}},
		},
		Objectives: o.SLOs,
	}
}

// WarmUp plays without scraping: a time in which baselines are learned.
func (s *Simulation) WarmUp(d time.Duration) {
	s.traffic.advance(d)
	s.scraped = d
	s.now = s.start.Add(d)
}

// Advance implements Source.
func (s *Simulation) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	read := s.recorder.Only(func(family string) bool { return wantedFamily(family, wanted) })
	for !s.start.Add(s.scraped + s.every).After(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.scraped += s.every
		s.traffic.advance(s.scraped)
		s.now = s.start.Add(s.scraped)
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
