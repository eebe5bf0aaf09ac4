package backtest

import (
	"context"
	"math/rand/v2"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
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
	scraper
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
	s := &Simulation{start: o.Start, every: o.ScrapeInterval, scraper: scraper{now: o.Start, sinks: map[string][]*Series{}}}
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
