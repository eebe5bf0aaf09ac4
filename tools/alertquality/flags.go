package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
	"synthetic/internal/config"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/sink"
	"synthetic/tools/alertquality/worlds"
)

// simulationFlags are the flags of "alertquality run".
type simulationFlags struct {
	configFile  string
	ruleFiles   []string
	comparisons bool
	rules       backtest.RuleOptions
	scrape      time.Duration
	outputDir   string

	scenario                   string
	models                     []string
	faults                     []string
	fleet                      int
	rate                       float64
	adaptive                   bool
	seed                       uint64
	seeds, days, warm, workers int
}

func (f *simulationFlags) add(c *kingpin.CmdClause) {
	var names []string
	for _, m := range worlds.Models() {
		names = append(names, m.Name)
	}
	c.Flag("config.file", "Take the SLOs and the regression settings of this configuration. Default: SLOs that suit the simulated deployment.").StringVar(&f.configFile)
	c.Flag("rules.file", "A rule file to score, as PATH or NAME=PATH; may be repeated. Default: the generated rules.").StringsVar(&f.ruleFiles)
	c.Flag("compare", "Also score burn-rate rules as sloth generates them, and an alert on p95 against last week's.").Default("true").BoolVar(&f.comparisons)
	c.Flag("severity", "Alerts with this value of the label severity count as pages; may be repeated.").Default("page").StringsVar(&f.rules.Severities)
	c.Flag("ticket-severity", "Alerts with this value of the label severity count as tickets; may be repeated.").Default("ticket").StringsVar(&f.rules.Tickets)
	c.Flag("evaluation-interval", "Evaluation interval of rule groups that set none.").Default("30s").DurationVar(&f.rules.Interval)
	c.Flag("scrape-interval", "Interval at which the simulated prober is scraped.").Default("15s").DurationVar(&f.scrape)
	c.Flag("output.dir", "Write scores.md and scores.json here. Default: print the tables.").StringVar(&f.outputDir)
	c.Flag("scenario.file", "YAML file with models and faults to simulate instead of the built-in ones. tools/alertquality/scenario.yml shows every key.").StringVar(&f.scenario)
	c.Flag("model", "A deployment to simulate: "+strings.Join(names, ", ")+", one of --scenario.file, or all; may be repeated. Default: those of --scenario.file, otherwise quiet and typical.").StringsVar(&f.models)
	c.Flag("fault", "Inject only faults whose name contains this text; may be repeated.").StringsVar(&f.faults)
	c.Flag("conversations-per-minute", "Probe rate. Default: that of the model.").Float64Var(&f.rate)
	c.Flag("adaptive", "Probe in bursts at the first sign of a fault, with the default settings of adaptive traffic.").BoolVar(&f.adaptive)
	c.Flag("fleet", "Simulate this many targets at once, taking the models in turn; a fault hits all of them.").IntVar(&f.fleet)
	c.Flag("seed", "The first seed.").Default("1").Uint64Var(&f.seed)
	c.Flag("seeds", "Number of seeds. Each seed has one run without faults and one with faults.").Default("12").IntVar(&f.seeds)
	c.Flag("days", "Length of each run, in days.").Default("30").IntVar(&f.days)
	c.Flag("warm-up", "Days before each run in which baselines are learned.").Default("7").IntVar(&f.warm)
	c.Flag("workers", "Number of runs at the same time.").Default("1").IntVar(&f.workers)
}

// report simulates the deployments and scores the rules on them.
func (f *simulationFlags) report(ctx context.Context, progress io.Writer) (backtest.Report, error) {
	if f.seeds < 1 || f.days < 1 || f.warm < 0 || f.workers < 1 || f.rules.Interval <= 0 || f.scrape <= 0 || f.fleet < 0 || f.rate < 0 {
		return backtest.Report{}, fmt.Errorf("--seeds, --days, --workers and the intervals must be positive; --warm-up, --fleet and --conversations-per-minute must not be negative")
	}
	c, err := f.campaign()
	if err != nil {
		return backtest.Report{}, err
	}
	c.Progress = func(done, all int) { fmt.Fprintf(progress, "\r%d of %d runs", done, all) }
	scores, err := c.Run(ctx)
	fmt.Fprintln(progress)
	return backtest.Report{Settings: c.Settings(), Scores: scores}, err
}

// campaign returns the runs that the flags ask for.
func (f *simulationFlags) campaign() (worlds.Campaign, error) {
	c := worlds.Campaign{
		Policy: sink.DefaultPolicy(), Fleet: f.fleet, Days: f.days, WarmUp: f.warm, ScrapeInterval: f.scrape, Workers: f.workers,
	}
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
	in := rules.Input{SLOs: backtest.Objectives()}
	if f.configFile != "" {
		cfg, err := config.Load(f.configFile)
		if err != nil {
			return c, err
		}
		in = sidecar.RulesOf(cfg, 1)
		if n := len(cfg.Jobs); n > 0 {
			c.Policy = cfg.Jobs[0].Policy
			c.Policy.FalsePages *= float64(n)
		}
		c.SLOs = in.SLOs
	}
	for i := range in.SLOs {
		// The SLOs judge the simulated targets, which the configuration does not name.
		in.SLOs[i].Targets, in.SLOs[i].Workloads = nil, nil
	}
	c.Rules = func(all []worlds.Deployment) ([]backtest.RuleFile, error) { return f.ruleFilesFor(in, all) }
	if f.adaptive {
		c.BurstRate = 0.2 // the default of burst_rate
	}
	for i := range f.seeds {
		c.Seeds = append(c.Seeds, f.seed+uint64(i))
	}
	return c, nil
}

// ruleFilesFor returns the rule files to score on some deployments. The rules only know these
// targets; rules about any other target would only report that it is missing.
func (f *simulationFlags) ruleFilesFor(in rules.Input, all []worlds.Deployment) ([]backtest.RuleFile, error) {
	in.Jobs = nil
	for _, d := range all {
		in.Jobs = append(in.Jobs, d.RulesJob())
	}
	generated := &in
	if len(f.ruleFiles) > 0 && f.configFile == "" {
		generated = nil
	}
	return backtest.RuleFiles(generated, f.ruleFiles, f.comparisons, f.rules)
}

func (f *simulationFlags) scenarioFromFile() (worlds.Scenario, error) {
	if f.scenario == "" {
		return worlds.Scenario{}, nil
	}
	return worlds.LoadScenario(f.scenario)
}

// chosenModels returns the models of --model, otherwise the scenario's, otherwise the default
// ones.
func (f *simulationFlags) chosenModels(own []worlds.Model) ([]worlds.Model, error) {
	models := slices.Clone(own)
	if len(f.models) > 0 {
		models = nil
	} else if len(own) == 0 {
		models = []worlds.Model{worlds.Quiet(), worlds.Typical()}
	}
	for _, name := range f.models {
		if name == "all" {
			models = append(models, worlds.Models()...)
			continue
		}
		m, err := worlds.ModelNamed(name, own...)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	if f.rate > 0 {
		for i := range models {
			models[i].ConversationsPerMinute = f.rate
		}
	}
	return models, nil
}

// chosenFaults returns the faults of the scenario, or the built-in ones, whose name
// matches --fault.
func (f *simulationFlags) chosenFaults(own []worlds.Fault) ([]worlds.Fault, error) {
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
