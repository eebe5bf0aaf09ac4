package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"synthetic/tools/alertquality/engine"
)

// Campaign plays worlds through alert rules. Each world and seed has one run without faults and one with faults.
type Campaign struct {
	Models []Model
	// Faults is the number of faults in a run with faults, of all kinds about equally often.
	Faults int
	// Rules returns the rule file for a deployment; nil means the generated rules.
	Rules func(Model) ([]byte, error)
	Seeds []uint64
	// HealthyDays and FaultyDays are the lengths of the runs. Baselines are learned in the WarmUp days before.
	HealthyDays, FaultyDays, WarmUp int
	// BurstRate is the rate at which conversations start at the first sign of a fault, per second; 0 means that
	// there are no bursts.
	BurstRate float64
	// DetectorAlone leaves out the rules.
	DetectorAlone bool
	// Workers is the number of runs at the same time.
	Workers int
}

// ruleHistory is how long before the end of the warm-up the evaluation of rules begins: as far as pages look back. Only
// tickets look back further, and see less of the time before.
const ruleHistory = day

// Run simulates all runs and returns the outcomes of each world: two for each seed.
func (c Campaign) Run(ctx context.Context) ([][]engine.Outcome, error) {
	outcomes := make([][]engine.Outcome, len(c.Models))
	var workers errgroup.Group
	workers.SetLimit(c.Workers)
	for i, m := range c.Models {
		outcomes[i] = make([]engine.Outcome, 2*len(c.Seeds))
		for n := range outcomes[i] {
			workers.Go(func() (err error) {
				outcomes[i][n], err = c.run(ctx, m, c.Seeds[n/2], n%2 == 1)
				return err
			})
		}
	}
	return outcomes, workers.Wait()
}

// Epoch is the start of simulated runs: Monday, 00:00 UTC.
func Epoch() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

func (c Campaign) run(ctx context.Context, m Model, seed uint64, faulty bool) (engine.Outcome, error) {
	days := c.HealthyDays
	if faulty {
		days = c.FaultyDays
	}
	warm, length := time.Duration(c.WarmUp)*day, time.Duration(c.WarmUp+days)*day
	o := SimulationOptions{Model: m, Seed: seed * 2, Length: length, BurstRate: c.BurstRate}
	if faulty {
		var err error
		o.Seed++
		if o.Injections, err = DrawInjections(c.faults(), c.Faults, warm, length, rand.New(rand.NewPCG(o.Seed, 2))); err != nil {
			return engine.Outcome{}, err
		}
	}
	outcome := engine.Outcome{Days: float64(days), Incidents: incidentsOf(o.Injections)}
	if c.DetectorAlone {
		outcome.Spans = since(detected(o), Epoch().Add(warm))
		return outcome, nil
	}
	makeRules := c.Rules
	if makeRules == nil {
		makeRules = GeneratedRules
	}
	text, err := makeRules(m)
	if err != nil {
		return engine.Outcome{}, err
	}
	rules, err := engine.Load(text, engine.Interval)
	if err != nil {
		return engine.Outcome{}, err
	}
	history := min(warm, ruleHistory)
	sim := NewSimulation(o)
	sim.WarmUp(warm - history)
	spans, err := rules.Replay(ctx, sim, Epoch().Add(warm-history), Epoch().Add(length))
	if err != nil {
		return engine.Outcome{}, fmt.Errorf("%s, seed %d: %w", m.Name, seed, err)
	}
	outcome.Spans = since(spans, Epoch().Add(warm))
	return outcome, nil
}

// faults are those that a run may have: without rules, an outage is not found.
func (c Campaign) faults() []Fault {
	return slices.DeleteFunc(Faults(), func(f Fault) bool { return c.DetectorAlone && f.Kind == Outage })
}

// since cuts off what fired before from.
func since(spans []engine.Span, from time.Time) []engine.Span {
	spans = slices.DeleteFunc(spans, func(s engine.Span) bool { return !s.To.After(from) })
	for i := range spans {
		if spans[i].From.Before(from) {
			spans[i].From = from
		}
	}
	return spans
}

// incidentsOf returns the faults of a run.
func incidentsOf(injections []Injection) []engine.Incident {
	var out []engine.Incident
	for _, inj := range injections {
		out = append(out, engine.Incident{
			Name: inj.Fault.Name, From: Epoch().Add(inj.From), To: Epoch().Add(inj.To), Within: inj.Fault.within(),
		})
	}
	return out
}

// Describe describes the campaign in words.
func (c Campaign) Describe() string {
	alone := ""
	if c.DetectorAlone {
		alone = " The detector was asked alone, without the rules, which add up to a minute."
	}
	return fmt.Sprintf("Seeds %d to %d. Each has %d days without faults and %d days with %d faults, which begin at least %.0f hours after the last one ended, after %d days in which baselines are learned.%s\n",
		c.Seeds[0], c.Seeds[len(c.Seeds)-1], c.HealthyDays, c.FaultyDays, c.Faults, recovery.Hours(), c.WarmUp, alone)
}
