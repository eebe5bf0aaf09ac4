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
	models                     []string
	faults                     []string
	rate                       float64
	adaptive                   bool
	defaultRate                bool
	seed                       uint64
	seeds, days, warm, workers int
}

func (f *worldFlags) add(c *kingpin.CmdClause) {
	var names []string
	for _, m := range worlds.Models() {
		names = append(names, m.Name)
	}
	c.Flag("model", "A deployment to simulate: "+strings.Join(names, ", ")+"; may be repeated. Default: all.").StringsVar(&f.models)
	c.Flag("fault", "Inject only faults whose name contains this text; may be repeated. none leaves out the runs with faults.").StringsVar(&f.faults)
	c.Flag("conversations-per-minute", "Probe rate. Default: that of the model.").Float64Var(&f.rate)
	c.Flag("adaptive", "Probe in bursts at the first sign of a fault, with the default settings of adaptive traffic.").BoolVar(&f.adaptive)
	c.Flag("default-rate", "Probe at the default rate with the default bursts: like --conversations-per-minute=2 --adaptive.").BoolVar(&f.defaultRate)
	c.Flag("seed", "The first seed.").Default("1").Uint64Var(&f.seed)
	c.Flag("seeds", "Number of seeds. Each seed has one run without faults and one with faults.").Default("12").IntVar(&f.seeds)
	c.Flag("days", "Length of each run, in days.").Default("30").IntVar(&f.days)
	c.Flag("warm-up", "Days before each run in which baselines are learned.").Default("7").IntVar(&f.warm)
	c.Flag("workers", "Number of runs at the same time.").Default("1").IntVar(&f.workers)
}

// campaign returns the runs that the flags ask for, with the default policy and without rules.
func (f *worldFlags) campaign() (worlds.Campaign, error) {
	if f.defaultRate {
		f.rate, f.adaptive = 2, true
	}
	if f.seeds < 1 || f.days < 1 || f.warm < 0 || f.workers < 1 || f.rate < 0 {
		return worlds.Campaign{}, fmt.Errorf("--seeds, --days and --workers must be positive; --warm-up and --conversations-per-minute must not be negative")
	}
	c := worlds.Campaign{Policy: sink.DefaultPolicy(), Days: f.days, WarmUp: f.warm, Workers: f.workers}
	var err error
	if c.Models, err = f.chosenModels(); err != nil {
		return c, err
	}
	if c.Faults, err = f.chosenFaults(); err != nil {
		return c, err
	}
	if f.adaptive {
		c.BurstRate = defaultBurstRate
	}
	for i := range f.seeds {
		c.Seeds = append(c.Seeds, f.seed+uint64(i))
	}
	return c, nil
}

// defaultBurstRate is the default of burst_rate, in conversations per second.
const defaultBurstRate = 0.2

// showProgress returns a function that writes the number of finished runs.
func showProgress(w io.Writer) func(done, all int) {
	return func(done, all int) { fmt.Fprintf(w, "\r%d of %d runs", done, all) }
}

// chosenModels returns the models of --model, otherwise all.
func (f *worldFlags) chosenModels() ([]worlds.Model, error) {
	if len(f.models) == 0 {
		return f.atRate(worlds.Models()), nil
	}
	var models []worlds.Model
	for _, name := range f.models {
		m, err := worlds.ModelNamed(name)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return f.atRate(models), nil
}

// atRate probes the models at --conversations-per-minute, if it is set.
func (f *worldFlags) atRate(models []worlds.Model) []worlds.Model {
	for i := range models {
		models[i].ConversationsPerMinute = cmp.Or(f.rate, models[i].ConversationsPerMinute)
	}
	return models
}

// chosenFaults returns the faults whose name
// matches --fault.
func (f *worldFlags) chosenFaults() ([]worlds.Fault, error) {
	if slices.Equal(f.faults, []string{"none"}) {
		return nil, nil
	}
	all := worlds.Faults()
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
