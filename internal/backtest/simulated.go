package backtest

import (
	"context"
	"math/rand/v2"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/timestamp"

	"synthetic/internal/probe"
	"synthetic/internal/samples"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/sidecar/regression"
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
	// sinks are the series of each sample of a message, which the recorder
	// reuses from scrape to scrape.
	sinks map[*dto.Metric][]*Series
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
	s := &Simulation{start: o.Start, now: o.Start, every: o.ScrapeInterval, sinks: map[*dto.Metric][]*Series{}}
	s.recorder = metrics.NewRecorder(metrics.Options{
		Now: func() time.Time { return s.now }, Build: metrics.Build{Version: "backtest"},
		Heartbeat: func(probe.Key) time.Time { return s.now },
	})
	s.recorder.Apply(metrics.Snapshot{
		Targets: []metrics.Target{{Name: Target, Model: "simulated", Connection: "reuse"}},
		Jobs: []metrics.Job{{
			Target: Target, Workload: Workload, Rate: o.Model.ConversationsPerMinute / 60,
			Deadlines: regression.Deadlines{FirstToken: o.Model.FirstToken, Stall: 10 * time.Second, Total: TurnTimeout},
		}},
		SLOs: o.SLOs,
	})
	s.recorder.SetReload(true, o.Start)
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	s.traffic = &traffic{
		model: o.Model, rng: rng, level: newLevel(o.Model, rng, o.Length), injections: o.Injections,
		start: o.Start, sink: s.recorder, setNow: func(at time.Time) { s.now = at },
	}
	return s
}

// WarmUp plays without scraping: a time in which baselines are learned.
func (s *Simulation) WarmUp(d time.Duration) {
	s.traffic.advance(d)
	s.scraped = d
	s.now = s.start.Add(d)
}

// Advance implements Source.
func (s *Simulation) Advance(ctx context.Context, store *Store, to time.Time, wanted map[string]bool) error {
	for !s.start.Add(s.scraped + s.every).After(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.scraped += s.every
		s.traffic.advance(s.scraped)
		s.now = s.start.Add(s.scraped)
		if err := s.scrape(store, wanted); err != nil {
			return err
		}
	}
	return nil
}

func (s *Simulation) scrape(store *Store, wanted map[string]bool) error {
	families, done, err := s.recorder.Gatherer().Gather()
	if err != nil {
		return err
	}
	defer done()
	at := timestamp.FromTime(s.now)
	base := labels.FromStrings("instance", "prober", "job", "synthetic")
	wants := func(series string) bool { return wanted[series] }
	for _, f := range families {
		for _, m := range f.Metric {
			series, known := s.sinks[m]
			n := 0
			samples.Each(f.GetName(), m, false, wants, func(one samples.Sample) {
				if !known {
					series = append(series, store.Series(one.Labels(m, base)))
				}
				series[n].Append(at, one.Value)
				n++
			})
			if !known {
				s.sinks[m] = series
			}
		}
	}
	return nil
}
