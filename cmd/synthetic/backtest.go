package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
	"synthetic/internal/config"
	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/sink"
)

// backtestFlags are the flags of "synthetic backtest".
type backtestFlags struct {
	configFile  string
	ruleFiles   []string
	comparisons bool
	severities  []string
	tickets     []string
	evaluation  time.Duration
	scrape      time.Duration
	outputDir   string

	scenario                string
	models                  []string
	faults                  []string
	fleet                   int
	rate                    float64
	adaptive                bool
	seed                    uint64
	seeds, days, warm, jobs int

	recorded recordedFlags
	turns    turnsFlags
}

func addBacktest(app *kingpin.Application) command {
	f := &backtestFlags{}
	c := app.Command("backtest", `Score alert rules: replay probe series through Prometheus's rule engine.

Without a recording, deployments are simulated, healthy ones and ones with
faults of known size and time, and the rules are scored as a pager: what they
find, how soon, and how often they page for nothing. With --turns a log of turns
that "run --turns.file" wrote is replayed instead, with --tsdb.path or
--prometheus.url recorded series.
docs/background/alert-quality.md says how to read the tables.`)
	c.Flag("config.file", "Score the rules that are generated from this configuration; a simulated deployment gets its SLOs, and what it says of regressions. Default: SLOs that suit the simulated one.").StringVar(&f.configFile)
	c.Flag("rules.file", "A rule file to score, as PATH or NAME=PATH; may be repeated. Default: the generated rules.").StringsVar(&f.ruleFiles)
	c.Flag("compare", "Score burn-rate rules and p95 rules as others write them beside.").Default("true").BoolVar(&f.comparisons)
	c.Flag("severity", "Which alerts count as pages, by their label severity; may be repeated.").Default("page").StringsVar(&f.severities)
	c.Flag("ticket-severity", "Which alerts count as tickets, by their label severity; may be repeated.").Default("ticket").StringsVar(&f.tickets)
	c.Flag("evaluation-interval", "How often rule groups without an interval of their own are evaluated.").Default("30s").DurationVar(&f.evaluation)
	c.Flag("scrape-interval", "How often the simulated prober is scraped, or the step of --prometheus.url.").Default("15s").DurationVar(&f.scrape)
	c.Flag("output.dir", "Write scores.md, scores.json and, of up to four worlds, a picture of each there; default: print the tables.").StringVar(&f.outputDir)
	c.Flag("scenario.file", "Noise models and faults of your own, in YAML: the models are simulated unless --model chooses others, the faults are injected instead of the named ones. See examples/backtest/scenario.yml.").StringVar(&f.scenario)
	c.Flag("model", "A world to simulate: a noise model ("+strings.Join(modelNames(), ", ")+", or one of --scenario.file), or all; may be repeated. Default: those of --scenario.file, otherwise quiet and typical.").StringsVar(&f.models)
	c.Flag("fault", "Inject only faults whose name contains this; may be repeated.").StringsVar(&f.faults)
	c.Flag("conversations-per-minute", "Probe at this rate instead of that of the model.").Float64Var(&f.rate)
	c.Flag("adaptive", "Answer to the first sign of a fault with bursts, as traffic does by default.").BoolVar(&f.adaptive)
	c.Flag("fleet", "Simulate so many targets at one time, of the models in turn; a fault hits all of them.").IntVar(&f.fleet)
	c.Flag("seed", "The first seed.").Default("1").Uint64Var(&f.seed)
	c.Flag("seeds", "How many seeds, each with a healthy run and one with faults.").Default("12").IntVar(&f.seeds)
	c.Flag("days", "Length of a run.").Default("30").IntVar(&f.days)
	c.Flag("warm-up", "Days before a run, or at the beginning of a log of turns, in which baselines are learned.").Default("7").IntVar(&f.warm)
	c.Flag("workers", "How many runs at the same time.").Default("1").IntVar(&f.jobs)
	f.turns.add(c)
	f.recorded.add(c)
	return command{c, f.run}
}

func modelNames() []string {
	var names []string
	for _, m := range backtest.Models() {
		names = append(names, m.Name)
	}
	return names
}

func (f *backtestFlags) run(ctx context.Context, e env) error {
	if f.seeds < 1 || f.days < 1 || f.warm < 0 || f.jobs < 1 || f.evaluation <= 0 || f.scrape <= 0 || f.fleet < 0 || f.rate < 0 {
		return usagef("--seeds, --days, --workers and the intervals must be positive, --warm-up, --fleet and --conversations-per-minute not negative")
	}
	report, err := f.report(ctx, e)
	if err != nil {
		return err
	}
	if f.outputDir == "" {
		return report.WriteMarkdown(e.stdout)
	}
	return writeScores(e, f.outputDir, report)
}

// report replays and scores what the flags want.
func (f *backtestFlags) report(ctx context.Context, e env) (backtest.Report, error) {
	var none backtest.Report
	if err := f.checkTurns(); err != nil {
		return none, err
	}
	if f.turns.given() {
		return f.scoreTurns(ctx)
	}
	sim, err := f.simulated()
	if err != nil {
		return none, err
	}
	in, err := f.input()
	if err != nil {
		return none, err
	}
	return f.score(ctx, e, sim, in)
}

// files are the rule files to score.
func (f *backtestFlags) files(in rules.Input) ([]backtest.RuleFile, error) {
	o := backtest.RuleOptions{Interval: f.evaluation, Severities: f.severities, Tickets: f.tickets}
	var files []backtest.RuleFile
	if len(f.ruleFiles) == 0 || f.configFile != "" {
		text, err := generatedFrom(in)
		if err != nil {
			return nil, err
		}
		files = append(files, backtest.RuleFile{Name: "synthetic", Text: text, RuleOptions: o})
	}
	for _, arg := range f.ruleFiles {
		name, path, named := strings.Cut(arg, "=")
		if !named {
			name, path = filepath.Base(arg), arg
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, usagef("--rules.file=%s: %w", arg, err)
		}
		if _, err := backtest.LoadRules(name, text, o); err != nil {
			return nil, usagef("--rules.file=%s: %w", arg, err)
		}
		files = append(files, backtest.RuleFile{Name: name, Text: text, RuleOptions: o})
	}
	if f.comparisons && !f.recorded.given() && !f.turns.given() {
		others, err := backtest.Comparisons(o)
		if err != nil {
			return nil, err
		}
		files = append(files, others...)
	}
	return files, nil
}

// configured is what a configuration says, or the defaults.
type configured struct {
	rules.Input
	jobs []sink.Job
	// policy is that of all jobs together.
	policy sink.Policy
}

func (f *backtestFlags) configured() (configured, error) {
	in := configured{Input: rules.Input{SLOs: backtest.Objectives()}, policy: sink.DefaultPolicy()}
	if f.configFile == "" {
		return in, nil
	}
	cfg, err := config.Load(f.configFile)
	if err != nil {
		return in, err
	}
	in.Input, in.jobs = sidecar.RulesOf(cfg, 1), cfg.Jobs
	if n := len(cfg.Jobs); n > 0 {
		in.policy = cfg.Jobs[0].Policy
		in.policy.FalsePages *= float64(n)
	}
	return in, nil
}

// input is what rules are generated from: the SLOs and the traffic of the
// configuration. Simulated series are those of deployments of their own, which
// get the SLOs, whatever targets they are for.
func (f *backtestFlags) input() (configured, error) {
	in, err := f.configured()
	if err != nil {
		return in, err
	}
	if f.recorded.given() {
		if f.configFile == "" && len(f.ruleFiles) == 0 {
			return in, usagef("no rules for the recording: name the configuration of its prober with --config.file, from which they are generated, or a file with --rules.file")
		}
		return in, nil
	}
	for i := range in.SLOs {
		in.SLOs[i].Targets, in.SLOs[i].Workloads = nil, nil
	}
	return in, nil
}

// simulatedFiles are the rule files for simulated deployments, which are the only
// traffic: of any other the rules would see nothing but that it is not there.
func (f *backtestFlags) simulatedFiles(in rules.Input) func([]backtest.Deployment) ([]backtest.RuleFile, error) {
	return func(all []backtest.Deployment) ([]backtest.RuleFile, error) {
		of := in // runs that go on at the same time ask, too
		of.Jobs = nil
		for _, d := range all {
			of.Jobs = append(of.Jobs, simulatedJob(d))
		}
		return f.files(of)
	}
}

func generatedFrom(in rules.Input) ([]byte, error) {
	generated, err := rules.Generate(in)
	if err != nil {
		return nil, usageError{err}
	}
	return generated.PrometheusYAML()
}

// simulatedJob is what the rules know of a simulated job.
func simulatedJob(d backtest.Deployment) rules.Job {
	m := d.Model
	turns := float64(m.TurnsMin+m.TurnsMax) / 2
	return rules.Job{
		Target: d.Target, Workload: backtest.Workload, TurnTimeout: backtest.TurnTimeout,
		ConversationsPerMinute: m.ConversationsPerMinute, TurnsPerMinute: m.ConversationsPerMinute * turns,
	}
}

func (f *backtestFlags) score(ctx context.Context, e env, sim backtest.Scenario, in configured) (backtest.Report, error) {
	if f.recorded.given() {
		files, err := f.files(in.Input)
		if err != nil {
			return backtest.Report{}, err
		}
		return f.recorded.score(ctx, files, f.scrape)
	}
	c := f.campaign(sim, in)
	c.Progress = func(done, all int) { fmt.Fprintf(e.stderr, "\r%d of %d runs", done, all) }
	scores, err := c.Run(ctx)
	fmt.Fprintln(e.stderr)
	return backtest.Report{Settings: c.Settings(), Scores: scores}, err
}

// campaign is what is to be simulated.
func (f *backtestFlags) campaign(sim backtest.Scenario, in configured) backtest.Campaign {
	c := backtest.Campaign{
		Models: sim.Models, Faults: sim.Faults, Rules: f.simulatedFiles(in.Input), Policy: in.policy, Fleet: f.fleet,
		Days: f.days, WarmUp: f.warm, ScrapeInterval: f.scrape, Workers: f.jobs,
	}
	if f.configFile != "" {
		c.SLOs = in.SLOs
	}
	if f.adaptive {
		c.Adaptive = yamlform.Defaults[workload.Adaptive]()
	}
	for i := range f.seeds {
		c.Seeds = append(c.Seeds, f.seed+uint64(i))
	}
	return c
}

// writeScores writes the report in every form.
func writeScores(e env, dir string, r backtest.Report) error {
	var md, js strings.Builder
	if err := errors.Join(r.WriteMarkdown(&md), r.WriteJSON(&js)); err != nil {
		return err
	}
	files := []output{{"scores.md", []byte(md.String())}, {"scores.json", []byte(js.String())}}
	models := r.Models()
	if len(models) > 4 {
		models = nil // nobody looks at twenty
	}
	for _, model := range models {
		var svg strings.Builder
		if err := r.WritePicture(&svg, model); err != nil {
			return err
		}
		files = append(files, output{"time-to-page-" + strings.NewReplacer(" ", "-", ",", "").Replace(model) + ".svg", []byte(svg.String())})
	}
	return writeAll(e, dir, files)
}
