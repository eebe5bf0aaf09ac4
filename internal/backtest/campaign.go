package backtest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"synthetic/internal/slo"
)

// RuleFile is a rule file to be scored.
type RuleFile struct {
	Name string
	Text []byte
	RuleOptions
}

// Campaign scores rule files on simulated series: for each model and seed one
// run without faults, which counts false pages, and one with faults.
type Campaign struct {
	Models []Model
	Faults []Fault
	Files  []RuleFile
	SLOs   []slo.Objective
	Seeds  []uint64
	// Days is the length of each run, WarmUp the days before it in which
	// baselines are learned.
	Days, WarmUp int
	// ScrapeInterval is 15 s by default.
	ScrapeInterval time.Duration
	// Workers run at the same time; 0 is one.
	Workers int
	// Progress, if set, is told after each run.
	Progress func(done, all int)
}

// runKey is one run of a campaign.
type runKey struct {
	model  Model
	seed   uint64
	faulty bool
}

// outcome is what a run gave: spans by rule file, and the incidents within the
// days. The targets are those to be scored one by one, too.
type outcome struct {
	model     string
	days      float64
	spans     [][]Span
	incidents []Incident
	targets   []string
}

// Run plays the campaign and returns the scores: by model, then rule file, the
// whole set before its alerts.
func (c Campaign) Run(ctx context.Context) ([]Score, error) {
	sets, err := loadAll(c.Files)
	if err != nil {
		return nil, err
	}
	outcomes, err := c.play(ctx)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, f := range c.Faults {
		faults = append(faults, f.Name)
	}
	var scores []Score
	for _, m := range c.Models {
		of := slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return o.model != m.Name })
		scores = append(scores, scoreSets(m.Name, sets, faults, of)...)
	}
	return scores, nil
}

// loadAll reads the rule files anew: alerts have a state, so that each run needs
// its own.
func loadAll(files []RuleFile) ([]*RuleSet, error) {
	var sets []*RuleSet
	for _, f := range files {
		set, err := LoadRules(f.Name, f.Text, f.RuleOptions)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// play plays all runs, in a fixed order of the outcomes.
func (c Campaign) play(ctx context.Context) ([]outcome, error) {
	var keys []runKey
	for _, m := range c.Models {
		for _, seed := range c.Seeds {
			keys = append(keys, runKey{m, seed, false})
			if len(c.Faults) > 0 {
				keys = append(keys, runKey{m, seed, true})
			}
		}
	}
	outcomes := make([]outcome, len(keys))
	var workers errgroup.Group
	workers.SetLimit(max(1, c.Workers))
	var mu sync.Mutex
	done := 0
	for i, k := range keys {
		workers.Go(func() (err error) {
			outcomes[i], err = c.run(ctx, k)
			mu.Lock()
			defer mu.Unlock()
			done++
			if c.Progress != nil {
				c.Progress(done, len(keys))
			}
			return err
		})
	}
	return outcomes, workers.Wait()
}

// epoch is when simulated runs start: a Monday, 00:00 UTC.
func epoch() time.Time { return time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) }

// run plays one run.
func (c Campaign) run(ctx context.Context, k runKey) (outcome, error) {
	const day = 24 * time.Hour
	warm, length := time.Duration(c.WarmUp)*day, time.Duration(c.WarmUp+c.Days)*day
	seed := k.seed * 2
	var injections []Injection
	if k.faulty {
		seed++
		injections = c.injections(warm, length, seed)
	}
	sim := NewSimulation(SimulationOptions{
		Model: k.model, Seed: seed, SLOs: append(slices.Clone(c.SLOs), relative(k.model)), Injections: injections,
		Start: epoch(), Length: length, ScrapeInterval: c.ScrapeInterval,
	})
	sim.WarmUp(warm)
	sets, err := loadAll(c.Files)
	if err != nil {
		return outcome{}, err
	}
	spans, err := Run(ctx, sim, sets, epoch().Add(warm), epoch().Add(length))
	if err != nil {
		return outcome{}, fmt.Errorf("model %s, seed %d: %w", k.model.Name, k.seed, err)
	}
	return outcome{model: k.model.Name, days: float64(c.Days), spans: spans, incidents: incidents(injections)}, nil
}

// injections are the faults of a run: at their own times if they have any,
// otherwise at random ones.
func (c Campaign) injections(warm, length time.Duration, seed uint64) []Injection {
	if fixed := Place(c.Faults, warm); len(fixed) > 0 {
		return fixed
	}
	return Inject(c.Faults, warm+time.Hour, length, rand.New(rand.NewPCG(seed, 2)))
}

func incidents(injections []Injection) []Incident {
	var out []Incident
	for _, i := range injections {
		out = append(out, Incident{Name: i.Fault.Name, From: epoch().Add(i.From), To: epoch().Add(i.To), Within: i.Fault.within()})
	}
	return slices.Clip(out)
}

// Settings say in words how the scores of the campaign are made.
func (c Campaign) Settings() []string {
	lines := []string{fmt.Sprintf("seeds %d to %d; each has %d days without faults, on which false pages are counted, and %d days with faults, after %d days in which baselines are learned",
		c.Seeds[0], c.Seeds[len(c.Seeds)-1], c.Days, c.Days, c.WarmUp),
		fmt.Sprintf("scraped every %s, rules evaluated every %s", cmp.Or(c.ScrapeInterval, 15*time.Second), c.Files[0].Interval)}
	for _, m := range c.Models {
		lines = append(lines, m.describe())
	}
	for _, f := range c.Faults {
		lines = append(lines, f.describe())
	}
	return lines
}
