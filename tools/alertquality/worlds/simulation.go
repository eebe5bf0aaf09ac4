package worlds

import (
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/tools/alertquality/engine"
)

// Simulation plays turns of a simulated deployment into a sidecar, and scrapes it.
type Simulation struct {
	sidecar *engine.Sidecar
	traffic *traffic
	scraped time.Duration
}

// SimulationOptions define a run. Equal options give equal series.
type SimulationOptions struct {
	Model      Model
	Seed       uint64
	Injections []Injection
	// Length is the length of the run, with the warm-up.
	Length time.Duration
	// BurstRate is the rate at which conversations start at the first sign of a fault, per second; 0 means that
	// there are no bursts.
	BurstRate float64
}

// NewSimulation returns a simulation that begins at epoch.
func NewSimulation(o SimulationOptions) *Simulation {
	s := &Simulation{sidecar: engine.NewSidecar(epoch())}
	j := jobOf(o)
	s.sidecar.Add(j)
	s.traffic = newTraffic(o, s.sidecar)
	s.traffic.setNow = func(at time.Time) { s.sidecar.Now = at }
	s.traffic.probe(j, s.sidecar.Baselines)
	return s
}

// objectives returns the SLOs of a deployment.
func objectives(m Model) []slo.Objective {
	const month = 30 * 24 * time.Hour
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: m.TTFTObjective, Objective: 0.99, Window: month},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99, Window: month},
		{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: month},
	}
}

// GeneratedRules returns the rules of "synthetic generate rules" for a deployment.
func GeneratedRules(m Model) ([]byte, error) {
	perMinute := m.ConversationsPerMinute
	generated, err := rules.Generate(rules.Input{SLOs: objectives(m), Jobs: []rules.Job{{
		Target: targetName, Workload: workloadName, TurnTimeout: turnTimeout,
		ConversationsPerMinute: perMinute, TurnsPerMinute: perMinute * float64(m.TurnsMin+m.TurnsMax) / 2,
	}}})
	if err != nil {
		return nil, err
	}
	return generated.PrometheusYAML()
}

func jobOf(o SimulationOptions) sink.Job {
	return sink.Job{
		Job: probe.Job{
			Target:   target.Target{Name: targetName, Model: "simulated", Connection: target.Reuse},
			Workload: workload.Spec{Name: workloadName, Timeouts: workload.Timeouts{FirstToken: o.Model.FirstToken, Stall: 10 * time.Second, Total: turnTimeout}},
			Traffic:  workload.Traffic{Arrival: workload.Arrival{Rate: o.Model.ConversationsPerMinute / 60}, BurstRate: o.BurstRate},
		},
		Objectives: objectives(o.Model), Policy: sink.DefaultPolicy(),
	}
}

// play plays up to a time after the start.
func (s *Simulation) play(to time.Duration) {
	s.traffic.advance(to)
	s.sidecar.Now = epoch().Add(to)
}

// WarmUp plays without scraping, so that baselines are learned.
func (s *Simulation) WarmUp(d time.Duration) {
	s.scraped = d
	s.play(d)
}

// Advance implements engine.Source.
func (s *Simulation) Advance(store *engine.Store, to time.Time) error {
	for !epoch().Add(s.scraped + scrapeInterval).After(to) {
		s.scraped += scrapeInterval
		s.play(s.scraped)
		if err := s.sidecar.Scrape(store); err != nil {
			return err
		}
	}
	return nil
}
