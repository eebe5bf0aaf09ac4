package worlds

import (
	"cmp"
	"context"
	"slices"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/tools/alertquality/engine"
)

// Simulation plays turns of simulated deployments into a sidecar, and scrapes it.
type Simulation struct {
	sidecar *engine.Sidecar
	options SimulationOptions
	traffic []*traffic
	scraped time.Duration
}

// Deployment is a simulated deployment, probed as one target.
type Deployment struct {
	Target string
	// Service is the service that the target is a replica of; "" for none.
	Service    string
	Model      Model
	Seed       uint64
	Injections []Injection
}

// RulesJob returns what the rules must know of the job that probes the deployment.
func (d Deployment) RulesJob() rules.Job {
	perMinute := d.Model.ConversationsPerMinute
	return rules.Job{
		Target: d.Target, Workload: workloadName, TurnTimeout: turnTimeout,
		ConversationsPerMinute: perMinute, TurnsPerMinute: perMinute * float64(d.Model.TurnsMin+d.Model.TurnsMax) / 2,
	}
}

// SimulationOptions define a run. Equal options give equal series.
type SimulationOptions struct {
	Deployments []Deployment
	// SLOs judge every deployment; nil means the default SLOs with each model's TTFTObjective.
	SLOs []slo.Objective
	// Policy applies to all deployments together; the zero value is the default policy.
	Policy sink.Policy
	Start  time.Time
	// Length is the length of the run, with the warm-up.
	Length time.Duration
	// ScrapeInterval defaults to 15 s.
	ScrapeInterval time.Duration
	// BurstRate is the rate at which conversations start at the first sign of a fault, per second; 0
	// means that there are no bursts.
	BurstRate float64
}

func NewSimulation(o SimulationOptions) *Simulation {
	o.ScrapeInterval = cmp.Or(o.ScrapeInterval, 15*time.Second)
	s := &Simulation{options: o, sidecar: engine.NewSidecar(o.Start)}
	for _, d := range o.Deployments {
		j := jobOf(d, o)
		s.sidecar.Add(j)
		t := newTraffic(d, o, s.sidecar)
		t.setNow = func(at time.Time) { s.sidecar.Now = at }
		t.probe(j, s.sidecar.Baselines)
		s.traffic = append(s.traffic, t)
	}
	return s
}

// jobOf returns the job of a deployment. The deployments share the allowed false pages, as the
// jobs of a configuration do.
func jobOf(d Deployment, o SimulationOptions) sink.Job {
	policy := cmp.Or(o.Policy, sink.DefaultPolicy())
	policy.FalsePages /= float64(len(o.Deployments))
	slos := o.SLOs
	if slos == nil {
		slos = engine.Objectives()
		slos[0].Threshold = d.Model.TTFTObjective
	}
	slos = slices.DeleteFunc(slices.Clone(slos), func(o slo.Objective) bool { return !o.CoversJob(d.Target, workloadName) })
	job := sink.Job{
		Job: probe.Job{
			Target:   target.Target{Name: d.Target, Service: d.Service, Model: "simulated", Connection: target.Reuse},
			Workload: workload.Spec{Name: workloadName, Timeouts: workload.Timeouts{FirstToken: d.Model.FirstToken, Stall: 10 * time.Second, Total: turnTimeout}},
			Traffic:  workload.Traffic{Arrival: workload.Arrival{Rate: d.Model.ConversationsPerMinute / 60}, BurstRate: o.BurstRate},
		},
		Objectives: slos, Policy: policy,
	}
	return job
}

// play plays every deployment up to a time after the start, one after the other: they share no
// state.
func (s *Simulation) play(to time.Duration) {
	for _, t := range s.traffic {
		t.advance(to)
	}
	s.sidecar.Now = s.options.Start.Add(to)
}

// WarmUp plays without scraping, so that baselines are learned.
func (s *Simulation) WarmUp(d time.Duration) {
	s.scraped = d
	s.play(d)
}

// Advance implements engine.Source.
func (s *Simulation) Advance(ctx context.Context, store *engine.Store, to time.Time, wanted map[string]bool) error {
	scrape := s.sidecar.Scraper(store, wanted)
	for !s.options.Start.Add(s.scraped + s.options.ScrapeInterval).After(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.scraped += s.options.ScrapeInterval
		s.play(s.scraped)
		if err := scrape(); err != nil {
			return err
		}
	}
	return nil
}
