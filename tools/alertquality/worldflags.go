package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/sidecar/sink"
	"synthetic/tools/alertquality/worlds"
)

// worldFlags choose the deployments to simulate, their faults and the length of the runs.
type worldFlags struct {
	scenario                   string
	models                     []string
	faults                     []string
	fleet                      int
	rate                       float64
	adaptive, zones, sealed    bool
	defaultRate                bool
	seed                       uint64
	seeds, days, warm, workers int
	seedGiven, seedsGiven      bool
}

func (f *worldFlags) add(c *kingpin.CmdClause) {
	var names []string
	for _, m := range slices.Concat(worlds.Models(), worlds.Routines()) {
		names = append(names, m.Name)
	}
	c.Flag("scenario.file", "YAML file with models and faults to simulate instead of the built-in ones. tools/alertquality/scenario.yml shows every key.").StringVar(&f.scenario)
	c.Flag("model", "A deployment to simulate: "+strings.Join(names, ", ")+", one of --scenario.file, all (of alert-quality.md) or routines (calendars in time zones, and operation); may be repeated. Default: those of --scenario.file, otherwise quiet and typical.").StringsVar(&f.models)
	c.Flag("fault", "Inject only faults whose name contains this text; may be repeated. none leaves out the runs with faults.").StringsVar(&f.faults)
	c.Flag("conversations-per-minute", "Probe rate. Default: that of the model.").Float64Var(&f.rate)
	c.Flag("adaptive", "Probe in bursts at the first sign of a fault, with the default settings of adaptive traffic.").BoolVar(&f.adaptive)
	c.Flag("default-rate", "Probe at the default rate with the default bursts: like --conversations-per-minute=2 --adaptive.").BoolVar(&f.defaultRate)
	c.Flag("timezone", "Configure the time zone of the users for each target.").BoolVar(&f.zones)
	c.Flag("sealed", "Simulate sealed models with their own seeds. No constant of the detection was chosen on them; use them for the final check only.").BoolVar(&f.sealed)
	c.Flag("fleet", "Simulate this many targets at once, taking the models in turn; a fault hits all of them.").IntVar(&f.fleet)
	c.Flag("seed", "The first seed.").Default("1").IsSetByUser(&f.seedGiven).Uint64Var(&f.seed)
	c.Flag("seeds", "Number of seeds. Each seed has one run without faults and one with faults.").Default("12").IsSetByUser(&f.seedsGiven).IntVar(&f.seeds)
	c.Flag("days", "Length of each run, in days.").Default("30").IntVar(&f.days)
	c.Flag("warm-up", "Days before each run in which baselines are learned.").Default("7").IntVar(&f.warm)
	c.Flag("workers", "Number of runs at the same time.").Default("1").IntVar(&f.workers)
}

// campaign returns the runs that the flags ask for, with the default policy and without rules.
func (f *worldFlags) campaign() (worlds.Campaign, error) {
	if f.defaultRate {
		f.rate, f.adaptive = 2, true
	}
	if f.seeds < 1 || f.days < 1 || f.warm < 0 || f.workers < 1 || f.fleet < 0 || f.rate < 0 {
		return worlds.Campaign{}, fmt.Errorf("--seeds, --days and --workers must be positive; --warm-up, --fleet and --conversations-per-minute must not be negative")
	}
	if own := len(worlds.SealedSeeds()); f.sealed && (f.scenario != "" || f.seedGiven || f.seedsGiven && f.seeds > own) {
		return worlds.Campaign{}, fmt.Errorf("--sealed has its own models and %d seeds: leave out --scenario.file and --seed, and set --seeds to at most %d", own, own)
	}
	c := worlds.Campaign{Policy: sink.DefaultPolicy(), Fleet: f.fleet, Days: f.days, WarmUp: f.warm, Workers: f.workers}
	scenario, err := f.scenarioFromFile()
	if err != nil {
		return c, err
	}
	if c.Models, err = f.chosenModels(scenario.Models); err != nil {
		return c, err
	}
	if c.Faults, err = f.chosenFaults(scenario.Faults); err != nil {
		return c, err
	}
	if f.adaptive {
		c.BurstRate = defaultBurstRate
	}
	c.Zones, c.Seeds = f.zones, worlds.SealedSeeds()
	if !f.sealed {
		c.Seeds = nil
		for i := range f.seeds {
			c.Seeds = append(c.Seeds, f.seed+uint64(i))
		}
	}
	c.Seeds = c.Seeds[:min(len(c.Seeds), f.seeds)]
	return c, nil
}

// defaultBurstRate is the default of burst_rate, in conversations per second.
const defaultBurstRate = 0.2

// showProgress returns a function that writes the number of finished runs.
func showProgress(w io.Writer) func(done, all int) {
	return func(done, all int) { fmt.Fprintf(w, "\r%d of %d runs", done, all) }
}

func (f *worldFlags) scenarioFromFile() (worlds.Scenario, error) {
	if f.scenario == "" {
		return worlds.Scenario{}, nil
	}
	return worlds.LoadScenario(f.scenario)
}

// chosenModels returns the models of --model, otherwise the scenario's, otherwise the default
// ones.
func (f *worldFlags) chosenModels(own []worlds.Model) ([]worlds.Model, error) {
	if f.sealed {
		return f.sealedModels()
	}
	models := slices.Clone(own)
	if len(f.models) > 0 {
		models = nil
	} else if len(own) == 0 {
		models = []worlds.Model{worlds.Quiet(), worlds.Typical()}
	}
	for _, name := range f.models {
		if group, ok := groups()[name]; ok {
			models = append(models, group()...)
			continue
		}
		m, err := worlds.ModelNamed(name, own...)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return f.atRate(models), nil
}

// groups are the names that stand for several models.
func groups() map[string]func() []worlds.Model {
	return map[string]func() []worlds.Model{"all": worlds.Models, "routines": worlds.Routines}
}

// sealedModels returns the sealed models that --model names, otherwise all of them.
func (f *worldFlags) sealedModels() ([]worlds.Model, error) {
	models := worlds.Sealed()
	for _, name := range f.models {
		if !slices.ContainsFunc(models, func(m worlds.Model) bool { return m.Name == name }) {
			return nil, fmt.Errorf("--model=%s: no sealed model has this name; without --model all sealed models are simulated", name)
		}
	}
	models = slices.DeleteFunc(models, func(m worlds.Model) bool { return len(f.models) > 0 && !slices.Contains(f.models, m.Name) })
	return f.atRate(models), nil
}

// atRate probes the models at --conversations-per-minute, if it is set.
func (f *worldFlags) atRate(models []worlds.Model) []worlds.Model {
	for i := range models {
		models[i].ConversationsPerMinute = cmp.Or(f.rate, models[i].ConversationsPerMinute)
	}
	return models
}

// chosenFaults returns the faults of the scenario, or the built-in ones, whose name
// matches --fault.
func (f *worldFlags) chosenFaults(own []worlds.Fault) ([]worlds.Fault, error) {
	if slices.Equal(f.faults, []string{"none"}) {
		return nil, nil
	}
	all := own
	if len(all) == 0 {
		all = worlds.Faults()
	}
	var faults []worlds.Fault
	for _, fault := range all {
		matches := func(part string) bool { return strings.Contains(fault.Name, part) }
		if len(f.faults) == 0 || slices.ContainsFunc(f.faults, matches) {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("--fault: no fault has a name with %q", f.faults)
	}
	if err := worlds.CheckFit(faults, time.Duration(f.days)*24*time.Hour); err != nil {
		return nil, fmt.Errorf("--days=%d: %w; write more days, or leave the fault out with --fault", f.days, err)
	}
	return faults, nil
}
