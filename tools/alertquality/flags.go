package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
	"synthetic/tools/alertquality/engine"
	"synthetic/tools/alertquality/worlds"
)

// simulationFlags are the flags of "alertquality run".
type simulationFlags struct {
	configFile  string
	objectives  string
	ruleFiles   []string
	comparisons bool
	rules       engine.RuleOptions
	scrape      time.Duration
	outputDir   string
	worldFlags
}

func (f *simulationFlags) add(c *kingpin.CmdClause) {
	c.Flag("config.file", "Take the SLOs and the regression settings of this configuration. Default: those of --objectives.").StringVar(&f.configFile)
	c.Flag("objectives", "The SLOs without --config.file: model (a TTFT that suits each simulated deployment) or default (those of synthetic init).").Default(ownObjectives).EnumVar(&f.objectives, ownObjectives, defaultObjectives)
	c.Flag("rules.file", "A rule file to score, as PATH or NAME=PATH; may be repeated. Default: the generated rules.").StringsVar(&f.ruleFiles)
	c.Flag("compare", "Also score burn-rate rules as sloth generates them, and an alert on p95 against last week's.").Default("true").BoolVar(&f.comparisons)
	c.Flag("severity", "Alerts with this value of the label severity count as pages; may be repeated.").Default("page").StringsVar(&f.rules.Severities)
	c.Flag("ticket-severity", "Alerts with this value of the label severity count as tickets; may be repeated.").Default("ticket").StringsVar(&f.rules.Tickets)
	c.Flag("evaluation-interval", "Evaluation interval of rule groups that set none.").Default("30s").DurationVar(&f.rules.Interval)
	c.Flag("scrape-interval", "Interval at which the simulated prober is scraped.").Default("15s").DurationVar(&f.scrape)
	c.Flag("output.dir", "Write scores.md and scores.json here. Default: print the tables.").StringVar(&f.outputDir)
	f.worldFlags.add(c)
}

// Values of --objectives.
const (
	ownObjectives     = "model"
	defaultObjectives = "default"
)

// report simulates the deployments and scores the rules on them.
func (f *simulationFlags) report(ctx context.Context, progress io.Writer) (engine.Report, error) {
	if f.rules.Interval <= 0 || f.scrape <= 0 {
		return engine.Report{}, fmt.Errorf("--evaluation-interval and --scrape-interval must be positive")
	}
	c, err := f.campaign()
	if err != nil {
		return engine.Report{}, err
	}
	c.Progress = showProgress(progress)
	scores, err := c.Run(ctx)
	fmt.Fprintln(progress)
	return engine.Report{Settings: c.Settings(), Scores: scores}, err
}

// campaign returns the runs that the flags ask for, with the rules to score.
func (f *simulationFlags) campaign() (worlds.Campaign, error) {
	c, err := f.worldFlags.campaign()
	if err != nil {
		return c, err
	}
	c.ScrapeInterval = f.scrape
	in := rules.Input{SLOs: engine.Objectives()}
	if f.configFile != "" {
		cfg, err := config.Load(f.configFile)
		if err != nil {
			return c, err
		}
		in = sidecar.RulesOf(cfg)
		if n := len(cfg.Jobs); n > 0 {
			c.Policy = cfg.Jobs[0].Policy
			c.Policy.FalsePages *= float64(n)
		}
		c.SLOs = in.SLOs
	} else if f.objectives == defaultObjectives {
		c.SLOs = in.SLOs
	}
	for i := range in.SLOs {
		// The SLOs judge the simulated targets, which the configuration does not name.
		in.SLOs[i].Targets, in.SLOs[i].Workloads = nil, nil
	}
	c.Rules = func(all []worlds.Deployment) ([]engine.RuleFile, error) { return f.ruleFilesFor(in, all) }
	return c, nil
}

// ruleFilesFor returns the rule files to score on some deployments. The rules only know these
// targets; rules about any other target would only report that it is missing.
func (f *simulationFlags) ruleFilesFor(in rules.Input, all []worlds.Deployment) ([]engine.RuleFile, error) {
	in.Jobs = nil
	for _, d := range all {
		in.Jobs = append(in.Jobs, d.RulesJob())
	}
	generated := &in
	if len(f.ruleFiles) > 0 && f.configFile == "" {
		generated = nil
	}
	return engine.RuleFiles(generated, f.ruleFiles, f.comparisons, f.rules)
}
