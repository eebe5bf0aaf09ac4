package worlds

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
	"synthetic/tools/alertquality/engine"
)

// Campaign scores rule files on simulated series. Each world and seed has one run without
// faults and one with faults.
type Campaign struct {
	Models []Model
	Faults []Fault
	// Rules returns the rule files to score on some deployments. The names must be the same for
	// all deployments.
	Rules func(all []Deployment) ([]engine.RuleFile, error)
	// SLOs and Policy are as in SimulationOptions.
	SLOs   []slo.Objective
	Policy sink.Policy
	Seeds  []uint64
	// Days is the length of each run. Baselines are learned in the WarmUp days before it.
	Days, WarmUp int
	// BurstRate is the rate at which conversations start at the first sign of a fault, per second; 0
	// means that there are no bursts.
	BurstRate float64
	// ScrapeInterval defaults to 15 s.
	ScrapeInterval time.Duration
	// Workers is the number of runs at the same time; 0 means 1.
	Workers int
	// Progress, if set, is called after each run.
	Progress func(done, all int)
}

// world is the set of deployments that one run simulates.
type world struct {
	name        string
	deployments []Deployment
}

func (c Campaign) worlds() []world {
	var out []world
	for _, m := range c.Models {
		out = append(out, world{m.Name, []Deployment{{Target: targetName, Model: m}}})
	}
	return out
}

// runKey identifies one run of a campaign.
type runKey struct {
	world  world
	seed   uint64
	faulty bool
}

// outcome is the result of one run.
type outcome struct {
	engine.Outcome
	world string
	// turns and bursts are the numbers per day.
	turns, bursts float64
}

// Run simulates all runs and returns the scores, by world and then by rule file. A rule
// file comes before its alerts.
func (c Campaign) Run(ctx context.Context) ([]engine.Score, error) {
	outcomes, err := c.play(ctx)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, f := range c.Faults {
		faults = append(faults, f.Name)
	}
	var scores []engine.Score
	for _, w := range c.worlds() {
		sets, err := c.load(w.deployments)
		if err != nil {
			return nil, err
		}
		scores = append(scores, scoreWorld(w.name, sets, faults, outcomes)...)
	}
	return scores, nil
}

// scoreWorld scores the runs of one world.
func scoreWorld(name string, sets []*engine.RuleSet, faults []string, outcomes []outcome) []engine.Score {
	var runs []engine.Outcome
	var turns, bursts []float64
	for _, o := range outcomes {
		if o.world != name {
			continue
		}
		runs = append(runs, o.Outcome)
		if len(o.Incidents) == 0 && o.turns > 0 {
			turns, bursts = append(turns, o.turns), append(bursts, o.bursts)
		}
	}
	scores := engine.ScoreSets(name, sets, faults, runs)
	if len(turns) > 0 {
		meanTurns, meanBursts := stat.Mean(turns, nil), stat.Mean(bursts, nil)
		for i := range scores {
			scores[i].TurnsPerDay, scores[i].BurstsPerDay = &meanTurns, &meanBursts
		}
	}
	return scores
}

func (c Campaign) load(d []Deployment) ([]*engine.RuleSet, error) {
	files, err := c.Rules(d)
	if err != nil {
		return nil, err
	}
	return engine.LoadRuleFiles(files)
}

// keys returns the runs, in a fixed order.
func (c Campaign) keys() []runKey {
	var keys []runKey
	for _, w := range c.worlds() {
		for _, seed := range c.Seeds {
			keys = append(keys, runKey{w, seed, false})
			if len(c.Faults) > 0 {
				keys = append(keys, runKey{w, seed, true})
			}
		}
	}
	return keys
}

// play simulates all runs. The order of the outcomes is fixed.
func (c Campaign) play(ctx context.Context) ([]outcome, error) {
	keys := c.keys()
	outcomes := make([]outcome, len(keys))
	return outcomes, c.inParallel(len(keys), func(i int) (err error) {
		outcomes[i], err = c.run(ctx, keys[i])
		return err
	})
}

// inParallel calls do for the numbers below n, Workers at a time, and reports the progress.
func (c Campaign) inParallel(n int, do func(i int) error) error {
	var workers errgroup.Group
	workers.SetLimit(max(1, c.Workers))
	var mu sync.Mutex
	done := 0
	for i := range n {
		workers.Go(func() error {
			err := do(i)
			mu.Lock()
			defer mu.Unlock()
			done++
			if c.Progress != nil {
				c.Progress(done, n)
			}
			return err
		})
	}
	return workers.Wait()
}

// epoch is the start of simulated runs: Monday, 00:00 UTC.
func epoch() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

func (c Campaign) run(ctx context.Context, k runKey) (outcome, error) {
	o := c.options(k)
	sim := NewSimulation(o)
	sets, err := c.load(o.Deployments)
	if err != nil {
		return outcome{}, err
	}
	from := o.Start.Add(time.Duration(c.WarmUp) * day)
	history := c.history(sets)
	sim.WarmUp(time.Duration(c.WarmUp)*day - history)
	spans, err := engine.Replay(ctx, sim, sets, from.Add(-history), o.Start.Add(o.Length))
	if err != nil {
		return outcome{}, fmt.Errorf("%s, seed %d: %w", k.world.name, k.seed, err)
	}
	for i := range spans {
		spans[i] = since(spans[i], from)
	}
	out := outcome{world: k.world.name, Outcome: engine.Outcome{Days: float64(c.Days), Spans: spans, Incidents: sim.incidents()}}
	for _, t := range sim.traffic {
		out.turns += float64(t.turns) / o.Length.Hours() * 24
		out.bursts += float64(t.bursts) / o.Length.Hours() * 24
	}
	return out, nil
}

// history returns how long before the end of the warm-up the evaluation of rules begins, because
// later evaluations look back.
func (c Campaign) history(sets []*engine.RuleSet) time.Duration {
	return min(time.Duration(c.WarmUp)*day, engine.Lookback(sets).Truncate(engine.Chunk)+engine.Chunk)
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

func (c Campaign) options(k runKey) SimulationOptions {
	warm, length := time.Duration(c.WarmUp)*day, time.Duration(c.WarmUp+c.Days)*day
	seed := k.seed * 2
	var injections []Injection
	if k.faulty {
		seed++
		injections = c.injections(warm, length, seed)
	}
	deployments := slices.Clone(k.world.deployments)
	for i := range deployments {
		deployments[i].Seed, deployments[i].Injections = seed+uint64(i)<<32, injections
	}
	return SimulationOptions{
		Deployments: deployments, SLOs: c.SLOs, Policy: c.Policy, Start: epoch(), Length: length,
		ScrapeInterval: c.ScrapeInterval, BurstRate: c.BurstRate,
	}
}

// injections returns the faults of a run, at their own times if they have any, at random times
// otherwise.
func (c Campaign) injections(warm, length time.Duration, seed uint64) []Injection {
	if fixed := PlaceFaults(c.Faults, warm); len(fixed) > 0 {
		return fixed
	}
	return DrawInjections(c.Faults, warm+time.Hour, length, rand.New(rand.NewPCG(seed, 2)))
}

func (s *Simulation) incidents() []engine.Incident {
	return incidentsOf(s.traffic[0].injections, s.options.Start)
}

// incidentsOf returns the faults of a run that began at start.
func incidentsOf(injections []Injection, start time.Time) []engine.Incident {
	var out []engine.Incident
	for _, inj := range injections {
		out = append(out, engine.Incident{
			Name: inj.Fault.Name, From: start.Add(inj.From), To: start.Add(inj.To), Within: inj.Fault.within(),
		})
	}
	return out
}

// Settings describe the campaign in words.
func (c Campaign) Settings() []string {
	lines := []string{fmt.Sprintf("seeds %d to %d; each has %d days without faults and %d days with faults, after %d days in which baselines are learned",
		c.Seeds[0], c.Seeds[len(c.Seeds)-1], c.Days, c.Days, c.WarmUp),
		fmt.Sprintf("scraped every %s", cmp.Or(c.ScrapeInterval, 15*time.Second))}
	for _, m := range c.Models {
		lines = append(lines, m.describe())
	}
	for _, f := range c.Faults {
		lines = append(lines, f.describe())
	}
	return lines
}
