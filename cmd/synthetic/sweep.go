package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"synthetic/internal/config"
	"synthetic/internal/fleet"
	"synthetic/internal/probe/lag"
	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/study/report"
	"synthetic/internal/study/runs"
	"synthetic/internal/study/sweep"
)

type sweepFlags struct {
	planFile, dir        string
	line                 planLine
	resume, findCapacity bool
	shard, startAt       string
}

func addSweep(app *kingpin.Application) command {
	f := &sweepFlags{line: planLine{}}
	c := app.Command("sweep", `Load deployments and measure them at several levels of load.

A plan file, or flags in its place, describe the deployments, the conversations
and the levels. Examples:
  synthetic sweep --plan.file=plan.yml
  synthetic sweep --base-url=http://127.0.0.1:8000/v1 --concurrency=10,50,100 --duration=60s

The output directory gets run.json with all measurements, for "synthetic report",
and a first report in report/. Ctrl-C ends the sweep; finished levels are kept,
and --resume continues with the next one.

Exit codes: 0 if everything was measured, 1 if the deployment failed,
2 if the plan or the directory cannot be used, 130 if the sweep was stopped.`)
	c.Flag("plan.file", "The plan file (see docs/reference/plan.md).").PlaceHolder("FILE").StringVar(&f.planFile)
	f.line.add(c)
	c.Flag("output.dir", "Directory for the results. It must be new or empty, except with --resume. Default: a new directory sweep-TIME.").PlaceHolder("DIR").StringVar(&f.dir)
	c.Flag("resume", "Continue after the last finished level in the output directory.").BoolVar(&f.resume)
	c.Flag("find-capacity", "Instead of measuring all levels, search between the lowest and the highest for the highest load that provably meets the SLOs.").BoolVar(&f.findCapacity)
	c.Flag("shard", "Carry a share of each level: 0/3 is the first of three processes with the same plan. Needs --start-at. Add their runs with \"synthetic report merge\".").PlaceHolder("INDEX/COUNT").StringVar(&f.shard)
	c.Flag("start-at", "When the first level of all shards begins. Each level has a slot of the same length: warm-up, measurement, the total timeout of a turn, and the pause.").PlaceHolder("2026-03-01T12:00:00Z").StringVar(&f.startAt)
	return command{c, f.run}
}

// slots returns the share of this process and the begin of the first slot.
func (f *sweepFlags) slots() (shard fleet.Shard, at time.Time, err error) {
	if f.shard == "" && f.startAt == "" {
		return shard, at, nil
	}
	if shard, err = fleet.ParseShard(f.shard); err != nil {
		return shard, at, usagef("--shard: %w", err)
	}
	if at, err = time.Parse(time.RFC3339, f.startAt); err != nil {
		return shard, at, usagef("--start-at=%s: name one time for all shards, such as %s", f.startAt, time.Now().Add(5*time.Minute).UTC().Format(time.RFC3339))
	}
	return shard, at, nil
}

func (f *sweepFlags) run(ctx context.Context, e env) error {
	plan, err := f.plan(e)
	if err != nil {
		return err
	}
	if f.findCapacity && len(plan.SLOs) == 0 {
		return usagef("--find-capacity needs SLOs: write slos in %s", f.planFile)
	}
	dial, closePresets, err := presetNetwork(plan)
	defer closePresets()
	if err != nil {
		return err
	}
	for _, note := range plan.Notes {
		e.logger.Warn("The plan can be meant otherwise", "note", note)
	}
	shard, startAt, err := f.slots()
	if err != nil {
		return err
	}
	view := &sweepView{out: e.stdout, progressTo: e.stderr}
	options := sweep.Options{
		Plan: plan, Dir: f.dir, Resume: f.resume, FindCapacity: f.findCapacity, Shard: shard, StartAt: startAt,
		Tool: runs.Tool{Name: "synthetic", Version: version.Version, Revision: version.GetRevision(), Go: version.GoVersion},
		Dial: dial, Lag: lag.New(), Progress: view.progress, Finished: view.finished, Logger: e.logger,
	}
	run, err := sweep.Run(ctx, options)
	switch {
	case run == nil && errors.Is(err, sweep.ErrInterrupted):
		fmt.Fprintf(e.stderr, "synthetic: %v before its start\n", err)
		return errInterrupted
	case run == nil:
		return usageError{err}
	}
	fmt.Fprintf(e.stdout, "%s in %s\n", count(len(run.Results), "level"), filepath.Join(f.dir, "run.json"))
	if shard.Count > 0 {
		fmt.Fprintln(e.stdout, "add the runs of all shards with: synthetic report merge DIR... --output.dir=DIR")
	} else {
		writeReport(e, f.dir, run)
	}
	if errors.Is(err, sweep.ErrInterrupted) {
		fmt.Fprintf(e.stderr, "synthetic: %v; --resume continues it\n", err)
		return errInterrupted
	}
	return err
}

// plan reads the plan file, or prints the plan that the flags stand for. It also completes
// the name of the output directory.
func (f *sweepFlags) plan(e env) (fleet.Plan, error) {
	if f.resume && f.dir == "" {
		return fleet.Plan{}, usagef("--resume continues a sweep: name its directory with --output.dir=DIR")
	}
	f.dir = cmp.Or(f.dir, time.Now().UTC().Format("sweep-20060102T150405Z"))
	if f.planFile != "" {
		if name := f.line.given(); name != "" {
			return fleet.Plan{}, usagef("--%s cannot be combined with --plan.file: write it in %s, or leave --plan.file out", name, f.planFile)
		}
		return config.LoadPlan(f.planFile, cluster.Presets())
	}
	text, err := f.line.text()
	if err != nil {
		return fleet.Plan{}, err
	}
	plan, err := config.ParsePlan("plan.yml", []byte(text), cluster.Presets())
	if err != nil {
		fmt.Fprint(e.stderr, text)
		return plan, err
	}
	fmt.Fprintf(e.stdout, "# The plan file of these flags, kept in %s:\n%s\n", filepath.Join(f.dir, "plan.yml"), text)
	return plan, nil
}

// writeReport writes the report of a run into dir/report. An error is only logged: the run
// is complete, and "synthetic report" can try again.
func writeReport(e env, dir string, run *runs.Run) {
	if len(run.Results) == 0 {
		return
	}
	dir = filepath.Join(dir, "report")
	study := report.FromRun(run)
	files, err := report.Files(study)
	if err == nil {
		err = report.Write(dir, files)
	}
	if err != nil {
		e.logger.Warn("Writing the report failed; try synthetic report render", "err", err)
		return
	}
	if text, err := report.Terminal(study); err == nil { // Files has returned an error otherwise
		fmt.Fprintf(e.stdout, "\n%s\n", text)
	}
	fmt.Fprintf(e.stdout, "the report is %s, with the page report.html beside it\n", filepath.Join(dir, files[0].Name))
}

// finishedLine summarises a level without latencies: one number for first and later turns
// would be wrong for both.
func finishedLine(r runs.Result, notReached string) string {
	var seconds float64
	for _, s := range r.Snapshots {
		seconds += s.Seconds
	}
	sum := runs.Sum(r)
	turns, failed := sum.Ended()
	line := fmt.Sprintf("finished %s, level %g, repetition %d: %d turns, %d failed", r.Variant, r.Level, r.Repetition, turns, failed)
	if seconds > 0 {
		line += fmt.Sprintf(", %.2f turns/s, %.0f output tokens/s", float64(turns)/seconds, float64(sum.Tokens.Output)/seconds)
	}
	if n := sum.Recall.Judged(); n > 0 {
		line += fmt.Sprintf(", %d of %d reference codes right", sum.Recall.Right, n)
	}
	if notReached != "" {
		line += ", not reached: " + notReached
	} else if r.Verdict != nil {
		line += ", " + r.Verdict.Measured(nil)
		if why := r.Verdict.ToSettle(nil); why != "" {
			line += " (" + why + ")"
		}
	}
	if late, all := r.LeftOut(); late > 0 {
		line += fmt.Sprintf("; the prober was late for %d of %d turns", late, all)
	}
	if r.Why != "" {
		line += "; ended early, " + r.Why
	}
	return line
}

// presetNetwork serves the presets of a plan over connections in memory; dial reaches all
// other addresses over TCP. Without presets dial is nil, which means TCP.
func presetNetwork(p fleet.Plan) (dial func(context.Context, string, string) (net.Conn, error), stop func(), err error) {
	network := simulate.Network{Others: (&net.Dialer{}).DialContext}
	for _, v := range p.Variants {
		if v.Preset == "" {
			continue
		}
		o, err := simulate.Preset(v.Preset)
		if err != nil {
			return nil, network.Close, fmt.Errorf("starting the simulated deployment: %w", err)
		}
		o.Model, o.Seed = v.Preset, p.Seed
		host, _, _ := strings.Cut(strings.TrimPrefix(v.Target.BaseURL, "http://"), "/")
		network.Serve(net.JoinHostPort(host, "80"), simulate.New(o))
		dial = network.Dial
	}
	return dial, network.Close, nil
}
