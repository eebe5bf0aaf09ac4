package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/backtest"
	"synthetic/internal/config"
	"synthetic/internal/rules"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/sink"
)

// maxWarmUpDays is ten years. A time.Duration holds no more than 292.
const maxWarmUpDays = 3653

type backtestFlags struct {
	configFile  string
	ruleFiles   []string
	comparisons bool
	severities  []string
	evaluation  time.Duration
	scrape      time.Duration
	warmUpDays  int
	outputDir   string

	recorded recordedFlags
	turns    turnsFlags
}

func addBacktest(app *kingpin.Application) command {
	f := &backtestFlags{}
	c := app.Command("backtest", `Score alert rules on a recording: which incidents they page, how soon, and how
many pages are false.

Prometheus' own rule engine evaluates the rules. The recording is one of
  --turns            a log of turns that "synthetic run --turns.file" wrote
  --tsdb.path        the data directory of a Prometheus
  --prometheus.url   a running Prometheus

Example:
  synthetic backtest --config.file=synthetic.yml --turns turns.jsonl --incidents=incidents.csv

docs/how-to/replay.md explains the steps, docs/reference/scores.md the scores.`)
	c.Flag("config.file", "Score the rules generated from this configuration. A log of turns is judged by its SLOs and its regression settings. Default: TTFT within 1 s and TPOT within 60 ms for 99 % of turns, and 99.5 % availability.").StringVar(&f.configFile)
	c.Flag("rules.file", "A rule file to score, as PATH or NAME=PATH; may be repeated. Default: the generated rules.").StringsVar(&f.ruleFiles)
	c.Flag("compare", "Also score burn-rate rules as sloth generates them, and an alert on p95 against last week's.").BoolVar(&f.comparisons)
	c.Flag("severity", "Values of the label severity of pages and of tickets, such as critical,warning; may be repeated. Without a comma, tickets are those with the severity ticket.").Default("page,ticket").PlaceHolder("PAGE,TICKET").StringsVar(&f.severities)
	c.Flag("evaluation-interval", "Evaluation interval of rule groups that set none.").Default("30s").DurationVar(&f.evaluation)
	c.Flag("scrape-interval", "Scrape interval for --turns, and the query step for --prometheus.url.").Default("15s").DurationVar(&f.scrape)
	c.Flag("output.dir", "Write scores.md and scores.json here. Default: print the tables.").StringVar(&f.outputDir)
	c.Flag("warm-up", "Days at the start of a log of turns in which baselines are learned and nothing is scored.").Default("7").IntVar(&f.warmUpDays)
	f.turns.add(c)
	f.recorded.add(c)
	return command{c, f.run}
}

func (f *backtestFlags) run(ctx context.Context, e env) error {
	if f.warmUpDays < 0 || f.evaluation <= 0 || f.scrape <= 0 {
		return usagef("--evaluation-interval and --scrape-interval must be positive, and --warm-up must not be negative")
	}
	if f.warmUpDays > maxWarmUpDays {
		return usagef("--warm-up=%d: give at most %d days", f.warmUpDays, maxWarmUpDays)
	}
	report, err := f.report(ctx, newReplayProgress(e.stderr))
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(e.stderr, "synthetic: interrupted before anything was scored")
		return errInterrupted
	}
	if err != nil {
		return err
	}
	if f.outputDir == "" {
		err = report.WriteMarkdown(e.stdout)
	} else {
		err = writeScores(e, f.outputDir, report)
	}
	if err == nil && report.Partial != "" {
		fmt.Fprintf(e.stderr, "synthetic: interrupted: %s\n", report.Partial)
		return errInterrupted
	}
	return err
}

// report replays the recording and scores the rules.
func (f *backtestFlags) report(ctx context.Context, progress *replayProgress) (backtest.Report, error) {
	if err := f.checkRecording(); err != nil {
		return backtest.Report{}, err
	}
	if !f.turns.given() && f.configFile == "" && len(f.ruleFiles) == 0 {
		return backtest.Report{}, usagef("no rules for the recording: give the configuration of its prober with --config.file, from which rules are generated, or a file with --rules.file")
	}
	in, err := f.configured()
	if err != nil {
		return backtest.Report{}, err
	}
	if f.turns.given() {
		return f.scoreTurns(ctx, in, progress)
	}
	files, err := f.files(in.Input)
	if err != nil {
		return backtest.Report{}, err
	}
	return f.recorded.score(ctx, files, f.scrape, in.location, progress.replayed)
}

// checkRecording checks that exactly one recording is given.
func (f *backtestFlags) checkRecording() error {
	switch {
	case f.turns.given() && f.recorded.given(), f.recorded.tsdb != "" && f.recorded.url != "":
		return usagef("--turns, --tsdb.path and --prometheus.url: give only one of them")
	case !f.turns.given() && len(f.turns.more) > 0:
		return usagef("%q: give a log of turns with --turns=%s", f.turns.more[0], f.turns.more[0])
	case !f.turns.given() && !f.recorded.given():
		return usagef("no recording: give a log of turns with --turns=FILE, a Prometheus data directory with --tsdb.path=DIR, or a Prometheus with --prometheus.url=URL. Simulated deployments are scored by \"make alert-quality\" in a checkout of the source")
	}
	return nil
}

// files returns the rule files to score.
func (f *backtestFlags) files(in rules.Input) ([]backtest.RuleFile, error) {
	o := backtest.RuleOptions{Interval: f.evaluation}
	for _, pair := range f.severities {
		page, ticket, _ := strings.Cut(pair, ",")
		o.Severities, o.Tickets = append(o.Severities, page), append(o.Tickets, cmp.Or(ticket, "ticket"))
	}
	generated := &in
	if len(f.ruleFiles) > 0 && f.configFile == "" {
		generated = nil
	}
	files, err := backtest.RuleFiles(generated, f.ruleFiles, f.comparisons, o)
	if err != nil {
		return nil, usageError{err}
	}
	return files, nil
}

// configured holds the configuration, or the defaults.
type configured struct {
	rules.Input
	jobs []sink.Job
	// policy applies to all jobs together.
	policy sink.Policy
	// location is the time zone of the configuration; nil means UTC.
	location *time.Location
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
	in.Input, in.jobs, in.location = sidecar.RulesOf(cfg), cfg.Jobs, cfg.Location
	if n := len(cfg.Jobs); n > 0 {
		in.policy = cfg.Jobs[0].Policy
		in.policy.FalsePages *= float64(n)
	}
	return in, nil
}

// writeScores writes the report in every form.
func writeScores(e env, dir string, r backtest.Report) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	var out []output
	for _, f := range files {
		out = append(out, output{f.Name, f.Data})
	}
	return writeAll(e, dir, out)
}
