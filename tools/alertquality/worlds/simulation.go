package worlds

import (
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
	"synthetic/tools/alertquality/engine"
)

// Simulation plays turns of a simulated deployment into a sidecar, and scrapes it.
type Simulation struct {
	engine.Player
	traffic *traffic
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

// NewSimulation returns a simulation that begins at Epoch.
func NewSimulation(o SimulationOptions) *Simulation {
	s := &Simulation{}
	s.Sidecar, s.Play = engine.NewSidecar(Epoch()), s.play
	j := o.Job()
	s.Add(j)
	s.traffic = newTraffic(o, s)
	s.traffic.setNow = func(at time.Time) { s.Now = at }
	s.traffic.probe(j, s.Baselines)
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
	return RulesText(rules.Input{SLOs: objectives(m), Jobs: []rules.Job{{
		Target: targetName, Workload: workloadName, TurnTimeout: turnTimeout,
		ConversationsPerMinute: perMinute, TurnsPerMinute: perMinute * float64(m.TurnsMin+m.TurnsMax) / 2,
	}}})
}

// RulesText returns the rules of "synthetic generate rules" as a rule file.
func RulesText(in rules.Input) ([]byte, error) {
	generated, err := rules.Generate(in)
	if err != nil {
		return nil, err
	}
	return generated.PrometheusYAML()
}

// Job returns the job whose turns a run has.
func (o SimulationOptions) Job() fleet.Job {
	return fleet.Job{
		Job: probe.Job{
			Target:   target.Target{Name: targetName, Model: "simulated", Connection: target.Reuse},
			Workload: workload.Spec{Name: workloadName, Timeouts: workload.Timeouts{FirstToken: o.Model.FirstToken, Stall: 10 * time.Second, Total: turnTimeout}},
			Traffic:  workload.Traffic{Arrival: workload.Arrival{Rate: o.Model.ConversationsPerMinute / 60}, BurstRate: o.BurstRate},
		},
		Objectives: objectives(o.Model), Policy: fleet.DefaultPolicy(),
	}
}

func (s *Simulation) play(to time.Time) error {
	s.traffic.advance(to.Sub(Epoch()))
	return nil
}

// WarmUp plays without scraping, so that baselines are learned.
func (s *Simulation) WarmUp(d time.Duration) {
	s.traffic.advance(d)
	s.Now = Epoch().Add(d)
	s.Scraped = s.Now
}
